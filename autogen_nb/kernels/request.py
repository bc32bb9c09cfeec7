"""One execute request, from sending to the kernel's being idle again.

1. A request is over when the shell reply *and* the idle status have come, in whichever order (messaging
   specification), when the process has died, or when it did not yield to an interrupt within the grace.
2. An interrupt waits until the kernel has begun: before that, a kernel ignores SIGINT.
3. The time limit does not run while a question waits for its answer.
4. An interrupt that meets ipykernel between two steps of its own makes it drop the request: it goes idle
   without a reply. The shell channel keeps its order, so the reply to a later question tells.
5. An interrupt is repeated, after ever longer pauses, until the kernel is idle or asks for input: IPython swallows one
   that meets its own hooks, and code that stops its process may do so before we hear that it has begun. What does not
   yield within the grace is over as "stuck", or, where a person stopped it, the person is asked, and nothing is sent
   any more: nothing of theirs is destroyed unasked.
6. All that happens arrives in one inbox, so `next` may be cancelled and called again without loss.
7. A question on stdin waits until what was printed before it has arrived on iopub, which is another socket: a request
   on the control channel, which the kernel reads while code runs, tells by its idle status. Who does not answer it in
   time is asked about no longer.
8. Where the person who is asked stops the code, the guard interrupts it there; whatever it asks after that is denied at
   once, and what does not yield to that is interrupted as by rule 5.
9. An interrupt that was sent has arrived before the request closes: a late one would meet the next request.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Literal, TypeAlias

from autogen_nb.effects import EffectJudged
from autogen_nb.kernels.channels import Inbox
from autogen_nb.kernels.guard_client import BlockPermissions, GuardClient, Guarded, GuardQuestion
from autogen_nb.kernels.kernel_status import StuckAnswer
from autogen_nb.kernels.message_decoding import exit_code, output
from autogen_nb.kernels.places.place import KernelHandle
from autogen_nb.outputs import Failure, Output, Stream

Ask: TypeAlias = Callable[[str, bool], Awaitable[str]]
"""Asks a person: the prompt, and whether what is typed must not be shown. EOFError means "no more input"."""
End: TypeAlias = Literal["idle", "died", "stuck"]
Stuck: TypeAlias = Callable[[], Awaitable[StuckAnswer]]
"""Asks a person what becomes of code that did not yield to their interrupt."""

_END_OF_FILE = "\x04"
_CAUGHT_UP = 1.0
"""Seconds that a question waits for what was printed before it."""


class ExecuteRequest:
    """A request that has been sent."""

    def __init__(
        self,
        launched: KernelHandle,
        code: str,
        *,
        grace: float,
        silent: bool,
        ask: Ask | None = None,
        timeout: float | None = None,
        permissions: BlockPermissions = "ours",
        fields: Mapping[str, Any] | None = None,
        on_stop: Callable[[], Stuck | Literal["kill"]] = lambda: "kill",
    ) -> None:
        self.launched = launched
        self._code = code
        self._ask = ask
        self._guarded = permissions if isinstance(permissions, Guarded) else None
        self._on_stop = on_stop
        self._loop = asyncio.get_running_loop()
        self._stopped: asyncio.Future[None] = self._loop.create_future()
        self._open = 0
        self._grace = grace
        self._silent = silent
        self._inbox = Inbox()
        self._tasks: set[asyncio.Task[None]] = set()
        self._interrupts: set[asyncio.Task[None]] = set()
        self._question: asyncio.Task[None] | None = None
        self._timers: list[asyncio.TimerHandle] = []
        self._reminder: asyncio.TimerHandle | None = None
        self._begun = False
        self._idle = False
        self._reply: dict[str, Any] | None = None
        self._dropped = False
        self._exit: int | None = None
        self.end: End | None = None
        self.expired = False
        self.interrupted = False
        self.passed = ""
        self.asking = asyncio.Event()
        launched.exited.add_done_callback(self._died)
        self._clock = _Clock(timeout, lambda: self._inbox.put("expired"))
        if launched.guarding is not None:
            fields = launched.guarding.permissions(permissions)
        sent = launched.channels.send(
            "shell",
            "execute_request",
            {
                "code": code,
                "silent": silent,
                "store_history": not silent,
                "user_expressions": {},
                "allow_stdin": ask is not None,
                # Else the kernel may drop the request that follows a failed one.
                "stop_on_error": False,
                **(fields or {}),
            },
            self._inbox,
        )
        self._identifiers = [sent]

    @property
    def exit_code(self) -> int:
        """The code that the block itself came to; only after the end."""
        if self._exit is not None:
            return self._exit
        return 0 if (self._reply or {}).get("status") == "ok" and not self._dropped else 1

    @property
    def failure(self) -> str:
        """The exception that the reply tells of, in one line; "" where it tells of none."""
        reply = self._reply or {}
        return "" if reply.get("status") == "ok" else f"{reply.get('ename')}: {reply.get('evalue')}"

    async def next(self) -> Output | None:
        """The next output; None when the request is over.

        Raises what `ask` raised, except EOFError.
        """
        while self.end is None:
            found = self._take(await self._inbox.get())
            if found is not None:
                return found
        self._leave_alone()
        if self._interrupts:
            await asyncio.wait(self._interrupts, timeout=self._grace)
        self._close()
        return None

    def interrupt(self, stuck: Stuck | Literal["wait", "kill"]) -> None:
        """Interrupts the code as soon as it has begun; `stuck` says what is done when it has not yielded in time."""
        self.interrupted = True
        if self._begun:
            self._send_interrupt()
        self._insist(stuck)

    def exceed(self, limit: str, step: Literal["interrupt", "kill"]) -> None:
        """Has the code that passed a limit, in words, interrupted, or its kernel killed."""
        self.passed = self.passed or limit
        if step == "kill":
            self._inbox.put("stuck")
        else:
            self.interrupt("kill")

    def _insist(self, stuck: Stuck | Literal["wait", "kill"]) -> None:
        """Rule 5."""
        if self.asking.is_set() and stuck != "kill":
            return
        if self._reminder is None:
            # Nobody is there to be asked, and code that was heard may take its time to end.
            pause = self._grace if stuck == "wait" else self._grace / 2
            self._reminder = self._loop.call_later(pause, self._remind, pause)
        if stuck == "kill":
            self._later(self._grace, self._inbox.put, "stuck")
        elif stuck != "wait":
            self._later(self._grace, self._wonder, stuck)

    def _later(self, seconds: float, call: Callable[..., None], *arguments: Any) -> None:
        self._timers.append(self._loop.call_later(seconds, call, *arguments))

    def _remind(self, pause: float) -> None:
        if self.end is None:
            self._send_interrupt()
            self._reminder = self._loop.call_later(2 * pause, self._remind, 2 * pause)

    def _leave_alone(self) -> None:
        if self._reminder is not None:
            self._reminder.cancel()
            self._reminder = None

    def _send_interrupt(self) -> None:
        task = self._spawn(self.launched.interrupt())
        self._interrupts.add(task)
        task.add_done_callback(self._interrupts.discard)

    def _wonder(self, stuck: Stuck) -> None:
        if not self.asking.is_set() and self.end is None:
            self.asking.set()
            self._leave_alone()
            # From here on it is the person who decides.
            self._clock.pause()
            self._spawn(self._ask_whether_to_wait(stuck))

    async def _ask_whether_to_wait(self, stuck: Stuck) -> None:
        answer = await stuck()
        self.asking.clear()
        # Whoever stopped it at its question has no later cell in which they could be asked: this one goes on.
        if answer == "kill" or (answer == "later" and self._stopped.done()):
            self._inbox.put("stuck")

    def _take(self, item: Any) -> Output | None:
        match item:
            case (str(channel), dict(message)):
                return self._take_message(channel, message["header"]["msg_type"], message["content"])
            case dict():
                self._put_question(str(item.get("prompt", "")), password=bool(item.get("password", False)))
            case "died" | "stuck":
                self.end = item
            case "expired":
                self.expired = True
                self.interrupt("kill")
            case BaseException():
                raise item
        return None

    def _take_message(self, channel: str, kind: str, content: dict[str, Any]) -> Output | None:
        if channel == "stdin":
            self._spawn(self._in_order(content))
        elif channel == "shell":
            self._dropped = self._reply is None and kind != "execute_reply"
            self._reply = self._reply or content
        elif kind == "status":
            if self._silent:
                self._begin()
            if content.get("execution_state") == "idle" and not self._idle:
                self._idle = True
                if self.interrupted and self._reply is None:
                    # Rule 4: what is asked now is answered after the reply, if there is to be one.
                    probe = self.launched.channels.send("shell", "kernel_info_request", {}, self._inbox)
                    self._identifiers.append(probe)
        elif kind == "execute_input":
            self._begin()
        elif (found := output(kind, content)) is not None:
            return self._left(found) if isinstance(found, Failure) and found.ename == "SystemExit" else found
        if self._reply is not None and self._idle:
            self.end = "idle"
        return None

    def _left(self, failure: Failure) -> Output | None:
        code = exit_code(failure.evalue)
        self._exit = 1 if code is None else code
        return Stream("stderr", f"{failure.evalue}\n") if code is None else None

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            if self.interrupted:
                self._send_interrupt()

    async def _in_order(self, question: dict[str, Any]) -> None:
        """Rule 7: puts what came on stdin into the inbox once all that came before it is there."""
        guarding = None if self._guarded is None else self.launched.guarding
        if self._ask is None and (guarding is None or guarding.asked(str(question.get("prompt", ""))) is None):
            # Nobody answers it, and it must not stop the clock: code can send such a message by itself.
            return
        self._clock.pause()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CAUGHT_UP):
                await self.launched.channels.ask("control", "kernel_info_request", {}, until=("idle",))
        self._inbox.put(question)

    def _put_question(self, prompt: str, *, password: bool) -> None:
        guarding = self.launched.guarding
        asked = None if guarding is None else guarding.asked(prompt)
        if guarding is not None and asked is not None:
            self._spawn(self._judge(guarding, asked))
        elif self._stopped.done():
            self.launched.channels.send("stdin", "input_reply", {"value": _END_OF_FILE})
        elif self._ask is not None:
            # It has heard the interrupt, and goes on.
            self._leave_alone()
            if self._question is not None:
                self._question.cancel()
            self._question = self._spawn(self._answer(self._ask, prompt, password))

    async def _answer(self, ask: Ask, prompt: str, password: bool) -> None:
        with self._paused():
            try:
                text = await ask(prompt, password)
            except EOFError:
                text = _END_OF_FILE
        self.launched.channels.send("stdin", "input_reply", {"value": text})

    async def _judge(self, guarding: GuardClient, asked: GuardQuestion) -> None:
        with self._paused():
            judged = await self._judged(asked)
        if judged.stop and not self._stopped.done():
            self._stopped.set_result(None)
            self.interrupted = True
            self._insist(self._on_stop())
        self.launched.channels.send("stdin", "input_reply", {"value": guarding.answer(asked, judged)})

    async def _judged(self, asked: GuardQuestion) -> EffectJudged:
        if self._guarded is None or self._guarded.allow is None:
            return EffectJudged(allowed=False, reason="nobody can be asked")
        stopped = EffectJudged(allowed=False, stop=True)
        if self._stopped.done():
            return stopped
        lines = self._code.split("\n")
        line = lines[asked.line - 1].strip() if 0 < asked.line <= len(lines) else ""
        answer = asyncio.ensure_future(self._guarded.allow(asked.effect, line))
        try:
            either: list[asyncio.Future[Any]] = [answer, self._stopped]
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return answer.result() if answer.done() else stopped
        finally:
            answer.cancel()

    @contextmanager
    def _paused(self) -> Iterator[None]:
        self._open += 1
        # It runs again where this is asked in place of another question, which has just been given up.
        self._clock.pause()
        try:
            yield
        finally:
            self._open -= 1
            if not self._open and self.end is None:
                self._clock.resume()

    def _died(self, _: "asyncio.Future[int]") -> None:
        self._spawn(self._drain())

    async def _drain(self) -> None:
        await self.launched.channels.drain()
        self._inbox.put("died")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._inbox.put(error)

    def _close(self) -> None:
        self._clock.pause()
        self._leave_alone()
        for timer in self._timers:
            timer.cancel()
        for task in self._tasks:
            task.cancel()
        self.launched.exited.remove_done_callback(self._died)
        for identifier in self._identifiers:
            self.launched.channels.forget(identifier)


class _Clock:
    """Counts seconds down, except while paused."""

    def __init__(self, seconds: float | None, call: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._left = seconds
        self._call = call
        self._timer: asyncio.TimerHandle | None = None
        self.resume()

    def resume(self) -> None:
        if self._left is not None and self._timer is None:
            self._timer = self._loop.call_later(self._left, self._call)

    def pause(self) -> None:
        if self._left is not None and self._timer is not None:
            self._left = max(0.0, self._timer.when() - self._loop.time())
            self._timer.cancel()
            self._timer = None
