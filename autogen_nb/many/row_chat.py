"""Runs the chat for one row on a Dask worker, within limits that all workers of a call share.

1. A kernel runs the code of one row at a time, and rows that run together have kernels of their own.
2. After a row, the kernel goes back to its checkpoint before the row's first block; without one, a new kernel starts.
3. The result of a row is a dict of JSON values. An error becomes a part of the result, never an exception.
4. A variable on Dask's scheduler holds the limits: a budget, and the wait that a model's server asks for. A worker
   reads it before each request, and changes it under a lock. When a call ends, its variable is deleted, so that rows
   which still run send no further request.
"""

import asyncio
import json
import os
import random
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from distributed import Client, Lock, Variable, get_client, secede

from autogen_nb import run, sessions
from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.parts.prompts import ASSISTANT, FOLDER
from autogen_nb.agents.user_proxy import code_pair, last_answer
from autogen_nb.core.ports import Human, Model, ModelRequest, Part, Retry
from autogen_nb.effects import EffectJudged
from autogen_nb.engine import engine
from autogen_nb.errors import AutogenError, BudgetReached, ChatUnfinished, NobodyThere, TransferError
from autogen_nb.events import ApprovalAsked, EffectAsked, Ended, Recorded
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.human.rule_based_approver import NobodyToAsk, RuleBasedApprover, RulesFile
from autogen_nb.kernels.places.writable import Writable, make_folder
from autogen_nb.kernels.transfer.describe import describe, variables_text
from autogen_nb.kernels.transfer.sizes import is_collection
from autogen_nb.messages import Usage
from autogen_nb.models.config import model_selection
from autogen_nb.models.config.model_selection import model_for
from autogen_nb.models.wrappers.budget import Budget, Budgeted, Estimate, budgeted
from autogen_nb.models.wrappers.wrapper import ModelWrapper, around_each, open_reply
from autogen_nb.settings import Settings
from autogen_nb.trusted import policy_file
from autogen_nb.trusted.held_folder import HeldFolder
from autogen_nb.views.in_words import Totals

FILES = "autogen_files"
_REACHED = "the budget is reached: {} are spent"


@dataclass(frozen=True, slots=True)
class RowCall:
    """The data that all rows of a call share; it is part of Dask's graph, so it contains no API keys.

    The names of sessions and folders begin with `name`, and `limits` is the name of the shared limits.
    """

    name: str
    limits: str
    options: Mapping[str, Any]
    outputs: tuple[str, ...] = ()
    budget: str = ""


RowHuman: TypeAlias = Callable[[int, str], Human]
"""Returns who answers the questions of the row with this number, from 0, and this task."""


local_calls: dict[str, tuple[Client, Any, RowHuman | None]] = {}
"""The client, the model and the human of the calls whose rows run in this process, by the names of their limits.

The model may contain an API key, so it is no part of Dask's graph.
"""


def not_run(error: str) -> dict[str, Any]:
    """The result of a row without an answer; `error` says why."""
    return {
        "status": "not run", "answer": "", "outputs": {}, "tokens": 0, "cost": 0.0, "seconds": 0.0, "error": error,
        "session": "",
    }  # fmt: skip


def run_row(call: RowCall, inputs: Mapping[str, Any], key: str, number: int, task: str) -> dict[str, Any]:
    """Runs one row, and returns its result.

    The status is "done" or "failed"; it is "not run" if the model has not answered or the shared budget is reached.
    """
    result, started, log = not_run(""), time.monotonic(), list[Recorded]()
    try:
        with _slot(call, inputs) as slot:
            if reached := slot.limits.read()["reached"]:
                return not_run(_REACHED.format(reached))
            with sessions.recording(f"{call.name}-{number}") as session:
                result["session"] = session.name
                try:
                    slot.chat(key, number, task)
                finally:
                    log = session.events
            result["answer"] = last_answer(log)
            _check_finished(log)
            result["outputs"] = slot.outputs()
        result["status"] = "done"
    except BudgetReached as error:
        result["error"] = _REACHED.format(error.spent)
        result["status"] = "not run" if slot.limits.read()["reached"] else "failed"
    # Whatever fails here, the other rows go on.
    except Exception as error:  # noqa: BLE001  # see above
        text = " ".join(str(error).split())
        result["error"] = text if isinstance(error, AutogenError) else f"{type(error).__name__}: {text}"
        is_stopped = isinstance(error, ChatUnfinished) and error.reason == "stopped"
        result["status"] = "failed" if Totals.of(log).replies and not is_stopped else "not run"
    totals = Totals.of(log)
    result["tokens"] = totals.tokens
    result["cost"] = None if totals.unpriced else totals.dollars
    result["seconds"] = round(time.monotonic() - started, 3)
    return result


async def end_rows(limits: str) -> None:
    """Cancels the rows of a call that still run, and ends the call's kernels."""
    with _lock:
        slots = [slot for slot in _slots if slot.call.limits == limits]
        _slots.difference_update(slots)
    for slot in slots:
        slot.cancel()
    await asyncio.gather(*[asyncio.wrap_future(engine.submit(slot.end())) for slot in slots])


class _Slot:
    """A kernel and a model on a worker, for one row at a time."""

    def __init__(self, call: RowCall, inputs: Mapping[str, Any]) -> None:
        self.call = call
        self._inputs = inputs
        options = Settings.from_options("", **call.options)
        place = options.place()
        self._cwd = Path.cwd()
        place.check(self._cwd)
        local: tuple[Any, Any, RowHuman | None] = local_calls.get(call.limits, (None, None, None))
        client, model, self._human = local
        self._settings = Settings().for_cell(options, attended=self._human is not None, sandboxed=place.is_sandbox)
        self.limits = SharedLimits(call.limits, client or get_client())
        self._budget = SharedBudget(call.budget, self.limits) if call.budget else None
        if client is None:
            model = model_selection.configured(self._settings.model, os.environ, "on this worker, ")
        self._spec, own_model = model, model_for(model, empty_reply="refuse")
        self._model = around_each(own_model, lambda each: LimitedModel(each, self.limits, self._budget))
        self._folder = f"{FILES}/{call.name}"
        writable = Writable(lambda: self._folder, lambda: False)
        self.executor = BlockExecutor(place=place, cwd=self._cwd, writable=writable, **self._settings.kernel_options)
        self.is_busy = True
        # The number of the current row's first block in the kernel; 0 before the kernel starts.
        self._first_block = 0
        self._cancel: Callable[[], object] = lambda: None

    def chat(self, key: str, number: int, task: str) -> None:
        try:
            asyncio.run(self._chat(key, number, task))
        except asyncio.CancelledError:
            raise ChatUnfinished("the row was stopped", reason="stopped") from None

    def cancel(self) -> None:
        # A row that has just ended has closed its loop.
        with suppress(RuntimeError):
            self._cancel()

    async def _chat(self, key: str, number: int, task: str) -> None:
        loop, current = asyncio.get_running_loop(), asyncio.current_task()
        self._cancel = lambda: current and loop.call_soon_threadsafe(current.cancel)
        await run.result(self._renew(), waits="async")
        if self._budget is not None:
            self._budget.row = key
        model = self._model
        if self._settings.policy_budget:
            model = budgeted(model, Budget.parse(self._settings.policy_budget))
        folder = f"{self._folder}/{number}"
        make_folder(self._cwd, folder)
        try:
            settings = self._settings
            code = CodeConfig(
                self.executor,
                confirm=settings.confirm or "always",
                output_dir=self._cwd / folder,
                pictures=model_selection.accepts_images(self._spec),
                timeout=settings.block_timeout,
            )
            role = ASSISTANT + FOLDER.format(folder=folder)
            user, assistant = code_pair(role, model, code, settings.max_turns)
            message = task + variables_text([describe(*item, share=settings.share) for item in self._inputs.items()])
            nobody = _Nobody()
            person = self._human(number, task) if self._human else nobody
            human = RuleBasedApprover(
                person, RulesFile(), scope=code.scope, agents_decide=self._human is None, tell=lambda _: None
            )
            chat = TwoAgentChat(user, assistant, ChatOptions(message, silent=True), waits="async", human=human)
            await chat.hold()
            if nobody.refused:
                raise NobodyThere(_refusal(nobody.refused))
        finally:
            _remove_empty(self._cwd, folder)

    def outputs(self) -> dict[str, Any]:
        return {name: as_json(name, engine.call(self.executor.get(name))) for name in self.call.outputs}

    async def _renew(self) -> None:
        """Starts or restarts the kernel, or takes the kernel back to its state before the previous row."""
        kernel = self.executor.kernel
        if not self._first_block:
            await self.executor.start()
        elif kernel.last_block < self._first_block or await kernel.go_back(self._first_block, only=True):
            self._first_block = kernel.last_block + 1
            return
        else:
            await self.executor.restart()
        if self._inputs:
            await self.executor.put(self._inputs)
        self._first_block = kernel.last_block + 1

    async def end(self) -> None:
        await self.executor.stop()
        for folder in (self._folder, FILES):
            _remove_empty(self._cwd, folder)


_slots: set[_Slot] = set()
_lock = threading.Lock()


@contextmanager
def _slot(call: RowCall, inputs: Mapping[str, Any]) -> Iterator[_Slot]:
    """A slot that no other row uses; also ends the idle slots of other calls."""
    if any(map(is_collection, inputs.values())):
        # The agent's code waits for its own tasks on the cluster; if rows held all threads, these would never run.
        secede()
    with _lock:
        free = [slot for slot in _slots if not slot.is_busy]
        slot = next((slot for slot in free if slot.call == call), None)
        outdated = [slot for slot in free if slot.call != call]
        _slots.difference_update(outdated)
        if slot is not None:
            slot.is_busy = True
    for each in outdated:
        engine.call(each.end())
    if slot is None:
        slot = _Slot(call, inputs)
        with _lock:
            _slots.add(slot)
    try:
        yield slot
    finally:
        slot.is_busy = False


class _Nobody(NobodyToAsk):
    """Ends the chat at a question about code; `refused` describes an effect that was denied."""

    refused = ""

    def approve(self, question: ApprovalAsked) -> NoReturn:
        raise NobodyThere(_refusal("; ".join(question.reasons)))

    def allow(self, question: EffectAsked) -> EffectJudged:
        self.refused = question.effect.words
        return EffectJudged(allowed=False, reason="nobody is there to be asked", stop=True)


def _refusal(reasons: str) -> str:
    usual = "use a sandbox, and set `confirm` to never" if reasons else "set `confirm` to risky, or use a sandbox"
    way_out = policy_file.policy().way_out(usual)
    return f"the code needs a person's approval, and nobody is there{reasons and f' ({reasons})'}; {way_out}"


def _remove_empty(cwd: Path, folder: str) -> None:
    with suppress(OSError), HeldFolder(cwd) as held:
        held.remove_empty(folder)


def _check_finished(log: list[Recorded]) -> None:
    last = log[-1] if log else None
    if not isinstance(last, Ended) or last.reason not in ("answered", "terminated"):
        reason, detail = (last.reason, last.detail) if isinstance(last, Ended) else ("", "the chat has not ended")
        raise ChatUnfinished(detail, reason=reason)
    if Totals.of(log).incomplete:
        raise ChatUnfinished("blocks failed or plots are missing, as the answer says")


def as_json(name: str, value: Any) -> Any:
    """A value for a table: text, a number, or lists and dicts of these; a table becomes a list of its rows."""
    try:
        return json.loads(json.dumps(value, default=_plain))
    except (AttributeError, TypeError, ValueError) as error:
        raise TransferError(
            f"`{name}` is a {type(value).__name__}, which is no value for a table: make it text, a number, a list, "
            "a dict or a DataFrame"
        ) from error


def _plain(value: Any) -> Any:
    if hasattr(value, "columns") and hasattr(value, "to_dict"):
        return value.to_dict("records")
    if isinstance(value, set | frozenset):
        return sorted(value)
    return value.tolist() if hasattr(value, "tolist") else value.isoformat()


_SPREAD = 0.2
"""The maximum random extension of a wait, as a fraction: simultaneous requests would reach the limit again."""


class SharedLimits:
    def __init__(self, name: str, client: Client) -> None:
        # Models run on the engine's thread, where Dask finds no client.
        self._lock = Lock(name, scheduler_rpc=client.scheduler, loop=client.loop)
        self._variable = Variable(name, client=client)

    def begin(self, tokens: int, dollars: float) -> None:
        """Creates the variable, with the tokens and dollars that earlier calls spent."""
        self._variable.set(
            {"tokens": tokens, "dollars": dollars, "pending": {}, "until": 0.0, "wait": 0.0, "reached": ""}
        )

    def end(self) -> None:
        self._variable.delete()

    def read(self) -> dict[str, Any]:
        """The present value of the variable; raises TimeoutError if the call has ended."""
        value: dict[str, Any] = self._variable.get(timeout=5.0)
        return value

    @contextmanager
    def change(self) -> Iterator[dict[str, Any]]:
        with self._lock:
            value = self.read()
            yield value
            self._variable.set(value)

    def hold(self, wait: float) -> None:
        """Makes all workers wait before their next requests."""
        with self.change() as value:
            until = time.time() + wait
            if until > value["until"]:
                value |= {"until": until, "wait": wait}

    def remaining(self) -> float:
        """The seconds to wait before the next request."""
        value = self.read()
        # The clocks of two machines may differ.
        left = min(value["until"] - time.time(), value["wait"])
        return left + random.uniform(0, _SPREAD) * value["wait"] if left > 0 else 0.0  # noqa: S311 - no secret

    def reach(self, spent: str) -> None:
        with self.change() as value:
            value["reached"] = value["reached"] or spent


class SharedBudget(Budget):
    """A budget that counts the spending of all workers; `row` is the key of the row that spends."""

    def __init__(self, text: str, limits: SharedLimits) -> None:
        budget = Budget.parse(text)
        super().__init__(budget.dollars, budget.tokens)
        self._limits = limits
        self.row = ""
        self._known = self._own = (0, 0.0)

    def spend(self, usage: Usage | None, cost: float | None, *, logged: bool = True) -> None:
        super().spend(usage, cost, logged=logged)
        self._own = self._own[0] + (usage or Usage()).total_tokens, self._own[1] + (cost or 0.0)

    def begin(self, estimate: Estimate) -> None:
        """Adds the spending of all workers to this budget, and records the estimate of a request in the limits."""
        with self._limits.change() as value:
            # A pending request of this row remains only if the worker died; its estimate counts as spent.
            lost_tokens, lost_dollars = value["pending"].pop(self.row, (0, 0.0))
            value["tokens"] += lost_tokens
            value["dollars"] += lost_dollars
            pending = value["pending"].values()
            tokens = value["tokens"] + sum(request[0] for request in pending)
            dollars = value["dollars"] + sum(request[1] for request in pending)
            value["pending"][self.row] = estimate.usage.total_tokens, estimate.dollars or 0.0
        super().spend(Usage(tokens - self._known[0]), dollars - self._known[1])
        self._known, self._own = (tokens, dollars), (0, 0.0)

    def end(self) -> None:
        with self._limits.change() as value:
            value["pending"].pop(self.row, None)
            value["tokens"] += self._own[0]
            value["dollars"] += self._own[1]
        self._known = self._known[0] + self._own[0], self._known[1] + self._own[1]


class LimitedModel(ModelWrapper):
    def __init__(self, model: Model, limits: SharedLimits, budget: SharedBudget | None) -> None:
        super().__init__(model if budget is None else Budgeted(model, budget))
        self._limits = limits
        self._budget = budget

    async def reply(self, request: ModelRequest) -> AsyncGenerator[Part, None]:
        budget = self._budget
        # Another worker may prolong the wait meanwhile, and the scheduler has no event for that.
        while wait := await asyncio.to_thread(self._limits.remaining):  # noqa: ASYNC110  # see above
            await asyncio.sleep(wait)
        if budget is not None:
            estimate = budget.estimate(request, price=self.price, limit=self.completion_limit)
            await asyncio.to_thread(budget.begin, estimate)
        try:
            async with open_reply(self.inner, request) as items:
                async for item in items:
                    if isinstance(item, Retry) and item.status == HTTPStatus.TOO_MANY_REQUESTS:
                        await asyncio.to_thread(self._limits.hold, item.wait)
                    yield item
        except BudgetReached as error:
            await asyncio.to_thread(self._limits.reach, error.spent)
            raise
        finally:
            if budget is not None:
                await asyncio.to_thread(budget.end)
