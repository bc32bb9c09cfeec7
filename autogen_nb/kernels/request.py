"""One execute request, from sending until the kernel is idle again.

1. A request ends when the shell reply *and* the idle status have arrived, in any order (messaging specification). It
   also ends when the process has died, when a limit kills it, or at the end of the grace period after an interrupt.
2. The first interrupt waits until the code has begun: before that, a kernel ignores SIGINT.
3. The time limit is paused while a question waits for its answer.
4. If an interrupt hits ipykernel's own code, ipykernel drops the request and becomes idle without a reply. The kernel
   replies in order, so the reply to a later request proves that the earlier request was dropped. If the late
   interrupt of another request has dropped this request before its code has begun, this request is sent again.
5. An interrupt is repeated, with growing pauses, until the kernel is idle or asks for input: IPython ignores interrupts
   inside its own hooks. A request whose code does not stop within the grace period ends as "stuck", whoever sent the
   interrupt.
6. Outputs go to `emit` as soon as their message arrives; `wait` may be cancelled and called again.
7. A question on stdin waits a moment for earlier output, because IOPub is another socket. The client sends a request
   on the control channel, which the kernel handles while code runs. The idle status of this request on IOPub follows
   the earlier output.
8. If the person answers a question with Stop, the code is interrupted. Its later questions are denied at once, and rule
   5 applies if the code does not stop.
9. `wait` returns only after the interrupts have reached the kernel, since a late interrupt would stop the next request.
   The supervisor, or the kernel on the control channel, confirms them. `wait` gives up after the grace period.
10. What threads and tasks of an earlier request print after its end belongs to this request, below a line.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from autogen_nb.core.policy.permissions import BlockPermissions, Guarded
from autogen_nb.core.text.visible_text import encodable
from autogen_nb.effects import Effect, EffectJudged
from autogen_nb.engine import Emit
from autogen_nb.kernels.inside.checkpoint import FIELD as CHECKPOINT
from autogen_nb.kernels.limits.block_limits import readable
from autogen_nb.kernels.message_decoding import exit_code, output
from autogen_nb.kernels.places.provisioner import KernelHandle
from autogen_nb.outputs import Failure, Output, Stream, size

Ask: TypeAlias = Callable[[str, bool], Awaitable[str]]
"""Asks a person for input; takes the prompt, and True for a password. EOFError means the end of the input."""
End: TypeAlias = Literal["idle", "died", "stuck"]

_END_OF_FILE = "\x04"
_LATE = "Output of an earlier block, after its end:\n"
_OUTPUT_WAIT = 1.0  # rule 7
_REPLY_WAIT = 1.0  # rule 4


def ignore(_: Output) -> None:
    pass


class ExecuteRequest:
    def __init__(
        self,
        handle: KernelHandle,
        code: str,
        emit: Emit[Output] = ignore,
        *,
        grace: float,
        silent: bool,
        ask: Ask | None = None,
        timeout: float | None = None,
        permissions: BlockPermissions = "ours",
        checkpoints: tuple[int, int] = (0, 0),
        expressions: Mapping[str, str] = MappingProxyType({}),
        output_limit: float | None = None,
    ) -> None:
        self.handle = handle
        # The numbers of the checkpoints before this request and after it, or 0.
        self.checkpoints = checkpoints
        self.expressions = expressions
        self.emit = emit
        self._output_limit = float("inf") if output_limit is None else output_limit
        self._output_size = 0
        self._ask = ask
        self._guarded = permissions if isinstance(permissions, Guarded) else None
        self._loop = asyncio.get_running_loop()
        self._stopped: asyncio.Future[None] = self._loop.create_future()
        self._open_questions = 0
        self._grace = grace
        self._silent = silent
        self._changed = asyncio.Event()
        self._error: BaseException | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._interrupts: set[asyncio.Task[None]] = set()
        self._question: asyncio.Task[None] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._next_interrupt: asyncio.TimerHandle | None = None
        self._begun = False
        self._idle = False
        self._reply: dict[str, Any] | None = None
        self._dropped = False
        self._exit: int | None = None
        self.end: End | None = None
        self.expired = False
        self.interrupted = False
        self.passed = ""
        # What the person has denied, in words.
        self.denied: list[str] = []
        # The future of the process's exit code; after a wake, the handle has another one.
        self.exited = handle.exited
        self.exited.add_done_callback(self._on_exit)
        self._clock = _Clock(timeout, self._expire)
        if handle.guard is not None:
            handle.guard.begin(permissions, code, self._judge_effect)
        self._content = {
            "code": code,
            "silent": silent,
            "store_history": not silent,
            "user_expressions": dict(expressions),
            "allow_stdin": ask is not None,
            # With True, the failure of this request would make the kernel drop the requests in its queue.
            "stop_on_error": False,
            **({CHECKPOINT: checkpoints} if any(checkpoints) else {}),
        }
        self._identifiers: list[str] = []
        self._request_id = self._send("execute_request", self._content)
        self._has_late = False
        if not silent:
            handle.channels.begin_late(self._take_late)

    @property
    def reply(self) -> Mapping[str, Any]:
        return self._reply or {}

    @property
    def exit_code(self) -> int:
        if self._exit is not None:
            return self._exit
        return 0 if self.reply.get("status") == "ok" and not self._dropped else 1

    @property
    def failure(self) -> str:
        """The exception in the reply, on one line; "" if there is none."""
        return f"{self.reply['ename']}: {self.reply.get('evalue')}" if "ename" in self.reply else ""

    async def wait(self) -> None:
        """Waits for the end of the request; raises errors of `emit`, and errors of `ask` except EOFError."""
        while self.end is None or self._error is not None:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            await self._changed.wait()
            self._changed.clear()
        self._stop_repeating()
        if self._interrupts:
            await asyncio.wait(self._interrupts, timeout=self._grace)
        self._close()

    def interrupt(self) -> None:
        """Interrupts the code as soon as it has begun; the request ends within the grace period (rule 5)."""
        if self._begun:
            self._send_interrupt()
        self._escalate()

    def exceed(self, limit: str, action: Literal["interrupt", "kill"]) -> None:
        self.passed = self.passed or limit
        if action == "kill":
            self._finish("stuck")
        else:
            self.interrupt()

    def _finish(self, end: End) -> None:
        self.end = self.end or end
        self._changed.set()

    def _expire(self) -> None:
        self.expired = True
        self.interrupt()

    def _escalate(self) -> None:
        """Rule 5."""
        self.interrupted = True
        if self._next_interrupt is None:
            pause = self._grace / 2
            self._next_interrupt = self._loop.call_later(pause, self._repeat_interrupt, pause)
        if self._deadline is None:
            self._deadline = self._loop.call_later(self._grace, self._finish, "stuck")

    def _repeat_interrupt(self, pause: float) -> None:
        if self.end is None:
            self._send_interrupt()
            self._next_interrupt = self._loop.call_later(2 * pause, self._repeat_interrupt, 2 * pause)

    def _stop_repeating(self) -> None:
        if self._next_interrupt is not None:
            self._next_interrupt.cancel()
            self._next_interrupt = None

    def _send_interrupt(self) -> None:
        task = self._spawn(self.handle.interrupt())
        self._interrupts.add(task)
        task.add_done_callback(self._interrupts.discard)

    def _take(self, channel: str, message: dict[str, Any]) -> Awaitable[object] | None:
        kind, content, emitted = message["header"]["msg_type"], message["content"], None
        if self.end is not None:
            return None
        if channel == "stdin":
            self._spawn(self._forward_question(content))
        elif channel == "shell":
            self._take_reply(kind, content)
        elif kind == "status":
            if self._silent:
                self._begin()
            is_own = message["parent_header"]["msg_id"] == self._request_id
            if content.get("execution_state") == "idle" and is_own and not self._idle:
                self._become_idle()
        elif kind == "execute_input":
            self._begin()
        elif (item := output(kind, content)) is not None:
            emitted = self._take_output(item)
        if self._reply is not None and self._idle:
            self._finish("idle")
        return emitted

    def _take_late(self, channel: str, message: dict[str, Any]) -> Awaitable[object] | None:
        """Rule 10."""
        if not self._has_late and self.end is None:
            self._has_late = True
            self._take_output(Stream("stderr", _LATE))
        return self._take(channel, message)

    def _take_reply(self, kind: str, content: dict[str, Any]) -> None:
        """Rule 4."""
        self._dropped = self._reply is None and kind != "execute_reply"
        if self._dropped and not self._begun and not self.interrupted:
            self._idle = False
            self._request_id = self._send("execute_request", self._content)
        else:
            self._reply = self._reply or content

    def _become_idle(self) -> None:
        self._idle = True
        if self._reply is None:
            self._loop.call_later(0 if self.interrupted else _REPLY_WAIT, self._send_later_request)

    def _send_later_request(self) -> None:
        """Rule 4."""
        if self._reply is None and self.end is None:
            self._send("kernel_info_request", {})

    def _send(self, kind: str, content: dict[str, Any]) -> str:
        self._identifiers.append(self.handle.channels.send("shell", kind, content, self._take))
        return self._identifiers[-1]

    def _take_output(self, item: Output | None) -> Awaitable[object] | None:
        if isinstance(item, Failure) and item.ename == "SystemExit":
            item = self._exit_output(item)
        if item is not None and self._output_size <= self._output_limit:
            self._output_size += size(item)
            if self._output_size > self._output_limit:
                self.exceed(f"output limit of {readable(self._output_limit)}", "interrupt")
        if self._output_size > self._output_limit and not isinstance(item, Failure):
            item = None
        try:
            return None if item is None else self.emit(item)
        except Exception as error:  # noqa: BLE001  # `wait` raises the error
            self._fail(error)
            return None

    def _exit_output(self, failure: Failure) -> Output | None:
        code = exit_code(failure.evalue)
        self._exit = 1 if code is None else code
        return Stream("stderr", f"{failure.evalue}\n") if code is None else None

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            if self.interrupted:
                self._send_interrupt()

    async def _forward_question(self, content: dict[str, Any]) -> None:
        """Rule 7."""
        if self._ask is None:
            # This message is from the agent's code itself, so it must not pause the time limit.
            return
        self._clock.pause()
        await self._await_outputs()
        if self.end is not None:
            return
        if self._stopped.done():
            self.handle.channels.send("stdin", "input_reply", {"value": _END_OF_FILE})
        else:
            prompt = str(content.get("prompt", ""))
            # Code that asks for input has survived the last interrupt, so the interrupt is not repeated.
            self._stop_repeating()
            if self._question is not None:
                self._question.cancel()
            self._question = self._spawn(self._answer(self._ask, prompt, password=bool(content.get("password", False))))

    async def _await_outputs(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_OUTPUT_WAIT):
                await self.handle.channels.ask("control", "kernel_info_request", {}, until=("idle",))

    async def _answer(self, ask: Ask, prompt: str, *, password: bool) -> None:
        with self._paused():
            try:
                text = await ask(prompt, password)
            except EOFError:
                text = _END_OF_FILE
        self.handle.channels.send("stdin", "input_reply", {"value": encodable(text)})

    async def _judge_effect(self, effect: Effect) -> EffectJudged:
        """Judges an effect about which the guard asks; the error of a denied call cannot tell the reason."""
        self._clock.pause()
        await self._await_outputs()
        with self._paused():
            judgement = await self._wait_for_judgement(effect)
        if judgement.stop and not self._stopped.done():
            self._stopped.set_result(None)
            self.interrupt()
        elif not judgement.allowed:
            self.denied.append(effect.words)
            reason = f": {judgement.reason}" if judgement.reason else ""
            self._take_output(Stream("stderr", f"Denied, the code {effect.words}{reason}\n"))
        return judgement

    async def _wait_for_judgement(self, effect: Effect) -> EffectJudged:
        if self._guarded is None or self._guarded.allow is None:
            return EffectJudged(allowed=False, reason="nobody can be asked")
        stopped = EffectJudged(allowed=False, stop=True)
        if self._stopped.done():
            return stopped
        answer = asyncio.ensure_future(self._guarded.allow(effect))
        try:
            either: list[asyncio.Future[Any]] = [answer, self._stopped]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return answer.result() if answer.done() else stopped
        finally:
            answer.cancel()

    @contextmanager
    def _paused(self) -> Iterator[None]:
        self._open_questions += 1
        # `_forward_question` pauses the clock, but the cancellation of an earlier question resumes it.
        self._clock.pause()
        try:
            yield
        finally:
            self._open_questions -= 1
            if not self._open_questions and self.end is None:
                self._clock.resume()

    def _on_exit(self, _: "asyncio.Future[int]") -> None:
        self._spawn(self._drain())

    async def _drain(self) -> None:
        await self.handle.channels.drain()
        self._finish("died")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_end)
        return task

    def _on_task_end(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self._error = error
        self._changed.set()

    def _close(self) -> None:
        self._clock.pause()
        self._stop_repeating()
        if self._deadline is not None:
            self._deadline.cancel()
        for task in self._tasks:
            task.cancel()
        self.exited.remove_done_callback(self._on_exit)
        if self.handle.guard is not None:
            self.handle.guard.end()
        if not self._silent:
            self.handle.channels.end_late()
        for identifier in self._identifiers:
            self.handle.channels.forget(identifier)


class _Clock:
    def __init__(self, seconds: float | None, call: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._remaining = seconds
        self._call = call
        self._timer: asyncio.TimerHandle | None = None
        self.resume()

    def resume(self) -> None:
        if self._remaining is not None and self._timer is None:
            self._timer = self._loop.call_later(self._remaining, self._call)

    def pause(self) -> None:
        if self._remaining is not None and self._timer is not None:
            self._remaining = max(0.0, self._timer.when() - self._loop.time())
            self._timer.cancel()
            self._timer = None
