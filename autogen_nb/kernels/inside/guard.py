"""The guard: an audit hook in the agent's kernel. It asks the person before code exceeds its permissions.

1. The kernel installs the guard before the agent's code runs. The guard uses its own copies of modules and built-in
   functions, so it still works after code has replaced `input`, `json`, `os.path` or the kernel's methods.
2. Each execute request has a number and signed permissions. The guard accepts only growing numbers, so code cannot
   reuse old permissions.
3. The guard sends signed questions on the stdin channel, and accepts only signed answers. An answer is valid until the
   block ends.
4. The guard asks only while a block runs, only in the kernel's process, and one question at a time in each thread.
   Otherwise the guard denies the action.

The guard prevents accidents, not attacks: malicious code in the same process can evade it (docs/safety.md).
"""

import builtins
import os
import sys
from collections.abc import Callable
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

_OWN_EVENTS = _TAKE, _BEGIN, _END = "autogen_nb.checkpoint", "autogen_nb.guard.begin", "autogen_nb.guard.end"
_NOTHING: dict[str, Any] = {}
_getpid = os.getpid
_get_ident = __import__("_thread").get_ident
_allocate_lock = __import__("_thread").allocate_lock


def load(codes: dict[str, CodeType]) -> dict[str, ModuleType]:
    """Creates the guard's modules with their own copy of the built-in functions, outside of `sys.modules`."""
    own = {"__builtins__": dict(vars(builtins))}
    modules = {}
    for name, code in codes.items():
        module = modules[name] = ModuleType(f"autogen_nb_{name}")
        vars(module).update(own)
        exec(code, vars(module))  # noqa: S102  # the package's code
    return modules


def copy_module(module: ModuleType, **replacements: Any) -> ModuleType:
    """Copies a module and its functions, so that changes to the original do not affect the copy."""
    clone = ModuleType(module.__name__)
    for name, value in {**vars(module), **replacements}.items():
        if isinstance(value, FunctionType) and value.__globals__ is vars(module):
            copy = FunctionType(value.__code__, vars(clone), name, value.__defaults__, value.__closure__)
            copy.__kwdefaults__ = value.__kwdefaults__
            vars(clone)[name] = copy
        else:
            vars(clone)[name] = value
    return clone


def install(
    kernel: Any,
    secret: bytes,
    parts: dict[str, Any],
    private: str,
    packages: str,
    supervisor: str,
    on_wake: Callable[[], None],
) -> None:
    files = parts["path_scope"].posixpath
    parts["path_scope"].posixpath = copy_module(files, os=copy_module(os))
    parts["permissions"].fnmatchcase = copy_module(sys.modules["fnmatch"]).fnmatchcase
    guard = _Guard(parts, secret, parts["guard_questions"].Asker(kernel, secret), private, packages)
    if supervisor:
        guard.allow_checkpoints(kernel, supervisor, parts, on_wake)
    handle, fields = (
        kernel.shell_handlers["execute_request"],
        (parts["checkpoint"].FIELD, parts["guard_questions"].FIELD),
    )
    kernel.shell_handlers["execute_request"] = _handler(handle, sys.audit, *fields, *_OWN_EVENTS)
    hook: Any = _hook(guard.judge, parts["audit_events"].EVENTS.union(_OWN_EVENTS), guard.roots)
    sys.addaudithook(hook)


def _handler(
    handle: Any, audit: Callable[..., None], checkpoint: str, field: str, take: str, begin: str, end: str
) -> FunctionType:
    async def execute_request(stream: Any, ident: Any, parent: Any) -> None:
        audit(take, parent["content"].pop(checkpoint, None))
        fields = parent["content"].pop(field, None) or {}
        audit(begin, fields.get("text"), fields.get("signature"), ident, parent["header"])
        try:
            await handle(stream, ident, parent)
        finally:
            audit(end)

    name, closure = execute_request.__name__, execute_request.__closure__
    return FunctionType(execute_request.__code__, {"__builtins__": _NOTHING}, name, None, closure)


def _hook(judge: Callable[..., Any], events: frozenset[str], roots: tuple[str, ...]) -> FunctionType:
    def hook(
        event: str,
        arguments: tuple[Any, ...],
        judge: Any = judge,
        events: Any = events,
        roots: tuple[str, ...] = roots,
        kind: type = type,
        text: type = str,
    ) -> None:
        if event in events:
            # An import reads hundreds of files below `roots`, so the hook accepts them without calling `judge`.
            if (event == "open" and arguments[1] == "rb") or event == "os.listdir":
                path = arguments[0]
                if kind(path) is text and path.startswith(roots) and "/.." not in path:
                    return
            refusal = judge(event, arguments)
            if refusal is not None:
                __tracebackhide__ = True
                # The agent's code can read a frame's variables from the traceback, so these are removed.
                judge = events = None
                raise refusal

    return FunctionType(hook.__code__, {"__builtins__": _NOTHING}, "hook", hook.__defaults__)


class _Guard:
    def __init__(self, parts: dict[str, Any], secret: bytes, asker: Any, private: str, packages: str) -> None:
        self._is_active = False
        self._allows = parts["permissions"].allows
        self._path_scope = parts["path_scope"].PathScope
        self._actions = parts["audit_events"].actions
        self._asker = asker
        view = parts["guard_process_view"]
        own = vars(view)["__builtins__"]
        builtin = (own, _NOTHING, globals()["__builtins__"])
        self._process = view.ProcessView(self._path_scope("", "", ""), builtin, private, packages)
        self.roots = self._process.roots
        self._resolve_links = view.resolve_links
        self._working_directory = view.resolve_links(".")
        self._signed: Callable[[str], str] = lambda text: parts["guard_questions"].sign(secret, text)
        self._decode = parts["guard_questions"].decoder()
        self._block: _Block | None = None
        self._number = 0
        self._pid = _getpid()
        self._judging: set[int] = set()
        self._own_thread: int | None = None
        self._checkpoints: Any = None

    def allow_checkpoints(
        self, kernel: Any, supervisor: str, parts: dict[str, Any], on_wake: Callable[[], None]
    ) -> None:
        def wake() -> None:
            self._pid = _getpid()
            self._block = self._own_thread = None
            self._judging.clear()
            self._asker.connect(kernel)
            on_wake()

        threads = parts["lost_threads"].LostThreads(partial(parts["idle_pools"].restart_of, kernel.shell))
        self._checkpoints = parts["checkpoint"].Checkpoints(
            kernel, supervisor, threads, self._process.unjudged_threads, wake
        )

    def judge(self, event: str, arguments: tuple[Any, ...]) -> BaseException | None:
        if event in _OWN_EVENTS:
            self._on_own_event(event, arguments)
            return None
        thread = _get_ident()
        if not self._is_active or thread == self._own_thread or thread in self._process.unjudged_threads:
            return None
        nested = thread in self._judging
        self._judging.add(thread)
        try:
            return self._judge_event(event, arguments, nested=nested)
        except KeyboardInterrupt:
            return KeyboardInterrupt("interrupted while the person was asked")
        except Exception as error:  # noqa: BLE001
            return PermissionError(f"denied: {event} could not be judged ({type(error).__name__})")
        finally:
            if not nested:
                self._judging.discard(thread)

    def _on_own_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == _TAKE:
            if self._checkpoints is not None:
                self._checkpoints.begin(*arguments)
            return
        self._block = self._own_thread = None
        if event == _BEGIN:
            self._begin(*arguments)
        elif self._checkpoints is not None:
            self._checkpoints.end()

    def _begin(self, text: Any = None, signature: Any = None, ident: Any = None, header: Any = None) -> None:
        if type(text) is not str or type(signature) is not str or signature != self._signed(text):
            return
        message = self._decode(text, 0)[0]
        if message["number"] <= self._number or message["permissions"] is None:
            return
        self._number = message["number"]
        self._process.scheduler = tuple(message["scheduler"] or ())
        if message["permissions"] == "ours":
            # Only this thread is trusted, because others may still run the agent's code.
            self._own_thread = _get_ident()
        else:
            folder, own, home = message["scope"]
            folder = self._resolve_links(folder) if folder else self._working_directory
            scope = self._path_scope(
                folder, own and self._resolve_links(own if own[0] == "/" else f"{folder}/{own}"), home
            )
            self._process.begin(scope)
            self._block = _Block(message["permissions"], scope, ident, header)
            self._is_active = True

    def _judge_event(self, event: str, arguments: tuple[Any, ...], *, nested: bool) -> BaseException | None:
        actions = self._actions(event, arguments, self._process)
        if not actions or (event != "import" and self._process.is_importing()):
            return None
        if event == "sqlite3.connect" and self._may_read_path(actions[0][1]):
            return None
        for action in actions:
            refusal = self._refusal(*action, nested=nested)
            if refusal is not None:
                return refusal
        if event == "socket.getaddrinfo":
            self._process.resolve(arguments)
        return None

    def _may_read_path(self, path: str) -> bool:
        block = self._block
        return block is not None and any(
            allowed == "read" and block.scope.full(target) == path for allowed, target in block.permissions
        )

    def _refusal(self, kind: str, target: str, words: str, *, nested: bool) -> BaseException | None:
        block = self._block
        if block is None:
            return PermissionError(f"denied: the code {words}, but no block is running, so nobody is asked")
        if block.is_allowed(kind, target) or self._allows(block.permissions, kind, target, block.scope):
            return None
        if (kind, target) in block.denied:
            return PermissionError(block.denied[kind, target])
        why = "another question is still open" if nested else ""
        if _getpid() != self._pid:
            why = "a child process cannot ask"
        if why:
            return PermissionError(f"denied: the code {words}, and {why}")
        with block.lock(kind, target):
            # Another thread may have asked the same question while this thread waited for the lock.
            if block.is_allowed(kind, target):
                return None
            if (kind, target) in block.denied:
                return PermissionError(block.denied[kind, target])
            question = {"kind": kind, "target": target, "words": words, "line": str(self._process.line(block.thread))}
            answer = self._asker.ask(block, question, lambda: self._block is block)
            return block.record(kind, target, words, answer)


class _Block:
    def __init__(self, permissions: Any, scope: Any, ident: Any, header: dict[str, Any]) -> None:
        self.permissions = tuple((kind, target) for kind, target in permissions)
        self.scope = scope
        self.ident = [bytes(part) for part in ([ident] if isinstance(ident, bytes) else ident)]
        self.header = {name: str(header.get(name, "")) for name in ("msg_id", "msg_type", "session", "username")}
        self.thread = _get_ident()
        self._allowed: set[tuple[str, str]] = set()
        self.denied: dict[tuple[str, str], str] = {}
        self._locks: dict[tuple[str, str], Any] = {}

    def lock(self, kind: str, target: str) -> Any:
        return self._locks.setdefault((kind, target), _allocate_lock())

    def is_allowed(self, kind: str, target: str) -> bool:
        if (kind, target) in self._allowed:
            return True
        return kind == "delete" and any(
            allowed == kind and target.startswith(f"{path}/") for allowed, path in self._allowed
        )

    def record(self, kind: str, target: str, words: str, answer: dict[str, Any]) -> BaseException | None:
        if answer.get("allowed") is True:
            self._allowed.add((kind, target))
            return None
        if answer.get("stop") is True:
            return KeyboardInterrupt("stopped by the person who was asked")
        why = f": {answer['reason']}" if answer.get("reason") else ""
        self.denied[kind, target] = f"denied, the code {words}{why}"
        return PermissionError(self.denied[kind, target])
