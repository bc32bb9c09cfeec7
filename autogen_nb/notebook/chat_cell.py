"""One run of a ``%%autogen`` cell, from the choice of the model to the results in the notebook.

Invalid options raise an error before any model call, and before variables are copied. `ChatCell.run` also serves cells
that block the kernel's thread; it then never suspends (see `autogen_nb.run.run_to_completion`).
"""

import asyncio
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, closing, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

from autogen_nb.agents.chats.initiated_chat import ChatOptions, ChatResult, TwoAgentChat
from autogen_nb.agents.chats.participant import register_ask_person
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.parts.agent_config import CodeConfig
from autogen_nb.agents.parts.prompts import ASSISTANT, FOLDER
from autogen_nb.agents.user_proxy import code_pair
from autogen_nb.conversations.chat_kernels import remove_empty
from autogen_nb.conversations.conversations import CellRun, ChatAgents, NotebookConversation
from autogen_nb.core.chats.termination_checks import END_WORD, without
from autogen_nb.core.ports import Model
from autogen_nb.errors import (
    AnswerIncomplete,
    BudgetReached,
    ChatUnfinished,
    ConfigError,
    ContentFiltered,
    ContextTooLong,
    ExecutionError,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    TransferError,
)
from autogen_nb.events import INCOMPLETE, Ended, ModelDelta, ReasoningDelta
from autogen_nb.kernels.places.place import Place
from autogen_nb.kernels.places.writable import make_folder
from autogen_nb.kernels.transfer.describe import cluster_of, describe, in_units, variables_text
from autogen_nb.kernels.transfer.sizes import size_of
from autogen_nb.models.config import model_selection
from autogen_nb.models.wrappers.budget import Budget, budgeted
from autogen_nb.notebook import resuming
from autogen_nb.notebook.asking.person import COPY, OFFER, AbsentPerson, approved_each_block, copy_and_run_again
from autogen_nb.notebook.context import (
    command_text,
    context_of,
    data_variables,
    mentioned_variables,
    named_variables,
    new_variables_line,
    quoted,
    read_instructions,
    replaced_variables_line,
    stale_variables_line,
    variable_list,
)
from autogen_nb.notebook.notebook import CellStage
from autogen_nb.notebook.rendering.chat_html import folded_note
from autogen_nb.run import heartbeat
from autogen_nb.settings import Settings
from autogen_nb.trusted import policy_file
from autogen_nb.views import in_words

_DELETED = "the folder {!r} was deleted; go to another (`%cd`), run `%reload_ext autogen_nb`, and run this cell again"
_OUTSIDE = "The computations of the agent's code on the Dask cluster {} run outside of the sandbox."
_CONTEXT_OFFER = "`--context` shows the cells above to the assistant, too."
_NO_INSTRUCTIONS = "There are no instructions of the project any more."
_PLAN = (
    "\n\nBefore any code, answer with your plan: a short numbered list of steps, without a code block. Then wait: I "
    "approve the plan or change it."
)
_NOBODY_FOR_PLAN = "a plan needs a person who approves it, and nobody can answer here: run the cell without --plan"
_UNREAD = "The chat ended before the assistant read your words: {}"
_UNGUARDED = (
    "The kernel of this chat was started for `--confirm never`, without a guard: you are asked only before code runs. "
    "`%autogen kernel stop {}` ends it and its variables; the next one has a guard."
)
_WAY_OUT = "`%autogen model` shows and changes the server."


class ChatCell:
    def __init__(self, stage: CellStage, settings: Settings, place: Place) -> None:
        self._stage = stage
        self._settings = settings
        self._place = place
        self._notebook = stage.notebook
        self._view = stage.view
        self._spec: Any = ""
        self._reply_begun = False

    async def run(self) -> ChatResult:
        if self._settings.plan and isinstance(self._stage.person, AbsentPerson):
            raise ConfigError(_NOBODY_FOR_PLAN)
        task = self._notebook.task(self._settings)
        inputs = named_variables(self._settings.inputs, self._notebook.namespace, "--input")
        with closing(self._view), heartbeat(self._view.tick) if self._stage.waits == "async" else nullcontext():
            model = await self._choose_model()
            chat, remark = self._notebook.conversations.open(self._settings, self._stage.origin)
            chat.move_to(self._place, self._notebook.defaults.default_place)
            chat.executor.kernel.rolls_back = self._settings.on_error == "rollback"
            model = self._limit_by_budgets(model, chat)
            await self._open_servers(chat)
            if not self._settings.new and (notice := self._notebook.sessions.remark(chat, self._stage.origin)):
                self._view.note(f"{notice} This cell begins a new conversation.", tone="warning", kind="restart")
            if chat.busy:
                self._view.set_status("waiting until the stopped code has ended")
                await self._stage.result(chat.executor.kernel.wait_idle())
            self._warn_about_place(chat)
            self._read_instructions()
            with _chat_folder(chat):
                try:
                    cell_run = self._resume(chat, task, inputs) or await self._begin(chat, task, inputs)
                    if remark:
                        self._view.note(remark)
                    number = chat.runs.index(cell_run) + 1
                    self._view.undo = f"%autogen undo --from {number} -c {shlex.quote(chat.name)}"
                    named_model = self._settings.options.get("model")
                    same_model = ("-m", shlex.quote(named_model)) if named_model else ()
                    self._view.next_magic = " ".join(("%%autogen", "-c", shlex.quote(chat.name), *same_model))
                    done = await self._converse(chat, cell_run, model)
                finally:
                    unread, chat.executor.words = chat.executor.words, []
                    if unread:
                        self._view.note(_UNREAD.format("; ".join(map(in_words.shortened, unread))), tone="warning")
                    if chat.session.problem:
                        self._view.note(f"The rest of this chat is not stored: {chat.session.problem}.", tone="warning")
                        chat.session.problem = ""
                self._make_offers(chat)
            try:
                self._check_finished(cell_run)
                self._notebook.publish(done)
                await self._return_variables(chat, cell_run, done)
            finally:
                await self._say_without_checkpoint(chat, cell_run)
                await self._list_new_variables(chat)
        # The cell raises an error, but the chat keeps the answer.
        if [reply.finish_reason for reply in cell_run.replies][-1:] == [INCOMPLETE]:
            raise AnswerIncomplete(
                "Incomplete: blocks failed or plots are missing, as the answer says. Run this cell again to retry.",
                reason=INCOMPLETE,
            )
        return done

    def _warn_about_place(self, chat: NotebookConversation) -> None:
        if not chat.runs and Path(chat.folder).is_absolute():
            text = f"The folder {str(chat.cwd)!r} is not writable: files of this chat go to {chat.folder!r}."
            self._view.note(text, tone="warning")
        if self._settings.confirm != "never" and chat.executor.kernel.runs_unguarded:
            self._view.note(_UNGUARDED.format(shlex.quote(chat.name)), tone="warning")

    async def _choose_model(self, *, again: bool = False) -> Model:
        self._spec = await self._stage.choose_model(self._settings, again=again)
        self._settings.pictures = model_selection.accepts_images(self._spec)
        if self._settings.ask_person is None:
            self._settings.ask_person = model_selection.support_tools(model_selection.hosts(self._spec, os.environ))
        return self._notebook.model(self._spec)

    async def _open_servers(self, chat: NotebookConversation) -> None:
        names = list(dict.fromkeys(self._settings.mcp))
        if not names and chat.tools is None:
            return
        from autogen_nb.notebook.commands.settings_commands import server_params

        params = server_params(names, chat.cwd)
        from autogen_nb.agents.parts.mcp_tools import McpTools

        chat.tools = chat.executor.kernel_functions = chat.tools or McpTools()
        self._view.set_status(f"starting {', '.join(names)}")
        asks, seconds = self._settings.confirm != "never", self._settings.block_timeout
        report = partial(setattr, self._view, "progress")
        await self._stage.result(chat.tools.open(params, asks=asks, seconds=seconds, report=report))

    def _limit_by_budgets(self, model: Model, chat: NotebookConversation) -> Model:
        limits = [text for text in (self._settings.budget, self._settings.policy_budget) if text]
        if not limits:
            return model
        budgets = [Budget.parse(text) for text in limits]
        chat.count_spent(budgets)
        for budget in budgets:
            model = budgeted(model, budget)
        self._view.spent = lambda: f"{budgets[0].spent} spent"
        return model

    async def _offer_variables(
        self, chat: NotebookConversation, task: str, inputs: Mapping[str, Any]
    ) -> dict[str, Any]:
        namespace = self._notebook.namespace
        unshared = [
            name
            for name in mentioned_variables(task, namespace)
            if name not in inputs
            and name not in chat.declined_variables
            and not chat.shared.holds(name, namespace[name])
        ]
        if not unshared:
            return {}
        sizes = variable_list([(name, in_units(size_of(namespace[name]))) for name in unshared], len(unshared))
        verb, pronoun = ("lives", "it") if len(unshared) == 1 else ("live", "them")
        question = f"{sizes} {verb} in your notebook; the agent has its own kernel. Copy {pronoun}?"
        copied = await self._stage.ask(lambda person: person.choose(COPY, question))
        what = "Copied to the agent's kernel" if copied else "Not copied"
        self._view.note(f"{what}: {quoted(unshared)}.", kind="decision")
        if copied:
            return {name: namespace[name] for name in unshared}
        chat.declined_variables.update(unshared)
        return {}

    async def _find_variable(
        self, chat: NotebookConversation, loop: asyncio.AbstractEventLoop | None, name: str
    ) -> tuple[bool, str]:
        """Offers a variable of the notebook that the agent's code does not find; called on the engine."""
        variables = data_variables(self._notebook.namespace)
        if name not in variables:
            return False, ""
        what = describe(name, variables[name], share=self._settings.share)
        if loop is not None and name not in chat.declined_variables:
            asked = asyncio.run_coroutine_threadsafe(self._ask_to_copy(name, what), loop)
            if await asyncio.wrap_future(asked):
                values = {name: variables[name]}
                chat.hand(values, await chat.put(values), self._notebook.namespace)
                return True, f"The user copied a variable of the notebook, and the block ran again: {what}."
            chat.declined_variables.add(name)
        way = command_text("push", [name], self._name_for_commands(chat))
        return (
            False,
            f"The user's notebook has {what}. Your kernel has no copy; only the user can make one, with `{way}`.",
        )

    async def _ask_to_copy(self, name: str, what: str) -> bool:
        question = f"The agent's code needs a variable of your notebook: {what}."
        copied = await self._stage.ask(lambda person: person.choose(copy_and_run_again(name), question))
        self._view.note(f"{'Copied to the agent' if copied else 'Not copied'}: `{name}`.", kind="decision")
        return copied

    def _read_instructions(self) -> None:
        before, now = self._notebook.instructions, read_instructions(self._notebook.conversations.cwd)
        if now == before:
            return
        self._notebook.instructions = now
        lines = in_words.counted(now.text.count("\n") + 1, "line", "lines")
        what = "now follows" if before.text else "follows"
        text = f"The assistant {what} the instructions in {now.names} ({lines})." if now.text else _NO_INSTRUCTIONS
        self._view.note(text, kind="instructions")

    def _cells_above(self, task: str, inputs: Mapping[str, Any]) -> str:
        if not self._settings.context:
            return ""
        mentioned = mentioned_variables(task, self._notebook.namespace)
        text, line = context_of(self._notebook.cells(), {*mentioned, *inputs})
        if text:
            self._view.add(*folded_note(line, text.strip(), kind="context"))
        return text

    def _resume(self, chat: NotebookConversation, task: str, inputs: Mapping[str, Any]) -> CellRun | None:
        if [name for name, value in inputs.items() if not chat.shared.holds(name, value)]:
            return None
        is_restored = bool(chat.runs) and chat.runs[-1].restored
        index = chat.index_of(self._stage.origin, task)
        if index is not None and chat.runs[index].restored:
            # These settings depend on the model, which may have changed since the kernel ended.
            earlier = chat.runs[index].settings
            self._settings.pictures, self._settings.ask_person = earlier.pictures, earlier.ask_person
        resumed = chat.resume(self._stage.origin, task, self._settings)
        if resumed is None:
            return None
        cell_run, dropped_runs = resumed
        notice = f" The conversation drops {_later_runs(dropped_runs)}." if dropped_runs else ""
        if not is_restored:
            self._view.note(f"This cell was run again: its earlier run continues where it stopped.{notice}")
        return cell_run

    async def _begin(self, chat: NotebookConversation, task: str, inputs: dict[str, Any]) -> CellRun:
        await self._take_back_earlier(chat, task)
        inputs |= await self._offer_variables(chat, task, inputs)
        if inputs:
            self._view.set_status(f"copying {', '.join(inputs)}")
            record = await self._stage.result(chat.put(inputs))
            if overwritten := chat.hand(inputs, record, self._notebook.namespace):
                self._view.note(replaced_variables_line(overwritten, "the agent's kernel"))
            if chat.place.is_sandbox and (cluster := cluster_of(inputs)):
                self._view.note(_OUTSIDE.format(cluster.address), tone="warning")
        if stale := [name for name in chat.shared.stale(self._notebook.namespace) if name not in inputs]:
            self._view.note(stale_variables_line(stale, self._name_for_commands(chat)), tone="warning")
        message = f"{task}{self._cells_above(task, inputs)}" + variables_text(
            [describe(name, value, share=self._settings.share) for name, value in inputs.items()]
        )
        message += _PLAN if self._settings.plan else ""
        return chat.begin(self._stage.origin, task, message, self._settings)

    async def _take_back_earlier(self, chat: NotebookConversation, task: str) -> None:
        index = chat.index_of(self._stage.origin, task)
        if index is None:
            return
        runs = chat.runs[index:]
        more = f" and {_later_runs(runs[1:])}" if runs[1:] else ""
        variables_restored = await self._stage.result(chat.undo(index))
        result = "The agent's variables are as they were before; `%autogen redo` brings back the earlier state."
        if not variables_restored:
            chat.drop(index)
            result = "The agent's kernel keeps its variables." if chat.alive else ""
        self._view.note(f"This cell was run again: this run replaces the earlier run{more}. {result}")

    async def _converse(self, chat: NotebookConversation, cell_run: CellRun, model: Model) -> ChatResult:
        self._view.hide(cell_run.message)
        skipped = 0
        while True:
            try:
                return await self._run_chat(chat, cell_run, model, skipped)
            except ContentFiltered:
                raise
            except ContextTooLong as error:
                raise _with_way_out(
                    error, "A new chat (--new) or fewer inputs (-i) make the request shorter."
                ) from error
            except (ModelUnavailable, ModelRefused) as error:
                model = self._limit_by_budgets(await self._choose_other(error), chat)
                skipped = len(cell_run.log)

    async def _choose_other(self, error: ModelError) -> Model:
        setting = self._notebook.model_setting
        if not setting.is_from_form(self._spec) or self._reply_begun or isinstance(self._stage.person, AbsentPerson):
            raise _with_way_out(error, _WAY_OUT) from error
        setting.failure = self._spec, str(error)
        try:
            return await self._choose_model(again=True)
        except ChatUnfinished:
            raise _with_way_out(error, _WAY_OUT) from error

    async def _run_chat(
        self, conversation: NotebookConversation, cell_run: CellRun, model: Model, skipped: int
    ) -> ChatResult:
        loop = asyncio.get_running_loop() if self._stage.waits == "async" else None
        conversation.executor.find_variable = partial(self._find_variable, conversation, loop)
        user, assistant = self._agents(conversation, cell_run, model)
        chat = TwoAgentChat(
            user,
            assistant,
            ChatOptions(cell_run.message, clear_history=False, plan=self._settings.plan),
            waits=self._stage.waits,
            human=self._stage.approver(None if user.code is None else user.code.scope),
            log=cell_run.log,
            known=conversation.shared.names,
        )
        position = 0
        try:
            async with aclosing(chat.exchange().stream_events(self._view.tick)) as stream:
                async for event in stream:
                    self._reply_begun = isinstance(event, ModelDelta | ReasoningDelta)
                    if position < skipped:
                        position += event == cell_run.log[position]
                        # The last event in the log is the open question, which is shown again.
                        if position < skipped:
                            continue
                    self._view.show(event)
        except BudgetReached as error:
            policy = self._settings.policy_budget
            most = f" (at most {policy}, by your organisation's policy)" if policy else ""
            raise BudgetReached(
                f"Not finished: the chat's budget is reached. {error.spent} are spent, and the next request would "
                f"exceed it. Run this cell again with a larger --budget{most}, and the chat continues where it "
                "stopped; a new chat (--new) has its own budget.",
                model=error.model,
                spent=error.spent,
            ) from error
        finally:
            conversation.executor.find_variable = None
        return chat.result()

    def _make_offers(self, conversation: NotebookConversation) -> None:
        log = [event for cell_run in conversation.runs for event in cell_run.log]
        can_change = self._settings.confirm == "always" and policy_file.policy().confirm != "always"
        if can_change and approved_each_block(log) and (offer := self._notebook.tip(OFFER)):
            # One offer is enough for a cell.
            self._view.note(offer, kind="offer")
            return
        is_chosen = self._settings.context or "context" in self._settings.options
        if is_chosen or _CONTEXT_OFFER in self._notebook.tips or isinstance(self._stage.person, AbsentPerson):
            return
        if self._notebook.cells():
            self._view.note(self._notebook.tip(_CONTEXT_OFFER), kind="offer")

    def _agents(
        self, conversation: NotebookConversation, cell_run: CellRun, model: Model
    ) -> tuple[ConversableAgent, ConversableAgent]:
        """Returns the previous cell's agents, or new agents if the setup or the earlier runs differ."""
        settings = self._settings
        config = CodeConfig(
            conversation.executor,
            confirm=settings.confirm or "always",
            output_dir=conversation.cwd / conversation.folder,
            pictures=settings.pictures,
            timeout=settings.block_timeout or None,
        )
        role = ASSISTANT + FOLDER.format(folder=conversation.folder) + self._notebook.instructions.prompt
        tools = conversation.tools
        role += tools.prompt if tools is not None else ""
        digests = tools.digests if tools is not None else ()
        setup = role, model, config, settings.max_turns, settings.mode, bool(settings.ask_person), digests
        earlier = conversation.runs[: conversation.runs.index(cell_run)]
        previous = conversation.agents
        if previous is not None and (previous.setup, previous.runs) == (setup, earlier):
            user, assistant = previous.pair
        else:
            user, assistant = code_pair(role, model, config, settings.max_turns, settings.mode)
            if settings.ask_person:
                register_ask_person(assistant, user)
            # A model that may ask by a tool can call others, too.
            if tools is not None and settings.ask_person:
                tools.offer(assistant, user)
            for statement in (each for run in earlier for each in run.statements):
                user.remember(statement.message, assistant, sent=statement.sender == user.name)
                assistant.remember(statement.message, user, sent=statement.sender == assistant.name)
        conversation.agents = ChatAgents((user, assistant), setup, [*earlier, cell_run])
        return user, assistant

    def _check_finished(self, cell_run: CellRun) -> None:
        reason = cell_run.last.reason if isinstance(cell_run.last, Ended) else None
        if reason == "stopped":
            raise ChatUnfinished("Not finished. Run this cell again to start over.", reason=reason)
        if reason == "max_auto_replies":
            raise ChatUnfinished(
                f"Not finished: the limit of {self._settings.max_turns} turns was reached. "
                "The next %%autogen cell continues the chat; --max-turns sets another limit.",
                reason=reason,
            )

    async def _return_variables(self, chat: NotebookConversation, cell_run: CellRun, done: ChatResult) -> None:
        namespace = self._notebook.namespace
        if self._settings.answer:
            namespace[self._settings.answer] = cell_run.answer or without(END_WORD, done.summary)
        if not (names := self._settings.outputs):
            return
        unpickle = self._settings.unpickle
        values = {name: await self._stage.result(chat.executor.get(name, unpickle=unpickle)) for name in names}
        if replaced := chat.bring(values, namespace):
            self._view.note(replaced_variables_line(replaced, "your notebook"))

    async def _say_without_checkpoint(self, chat: NotebookConversation, cell_run: CellRun) -> None:
        if not (cell_run.ran_code and await self._stage.result(chat.executor.kernel.lacks_checkpoint(cell_run.block))):
            return
        count = resuming.count_blocks(chat.session.steps_before(chat.runs.index(cell_run)))
        blocks = "the earlier block" if count == 1 else f"the {count} earlier blocks"
        result = f"runs {blocks} again" if count else "begins a new kernel"
        self._view.note(f"There is no checkpoint from before this cell: undo {result}.")

    async def _list_new_variables(self, chat: NotebookConversation) -> None:
        if not chat.alive:
            return
        # Only Python kernels can list their variables.
        with suppress(TransferError):
            variables = await self._stage.result(chat.executor.variables())
            chat.session.set_fingerprints({variable.name: variable.digest for variable in variables})
            new = [variable for variable in variables if variable.name not in chat.listed_variables]
            chat.listed_variables |= {variable.name for variable in new}
            if data := [variable for variable in new if variable.data]:
                line, way = new_variables_line(data, self._name_for_commands(chat))
                tip = way if self._notebook.tip("pull") else ""
                self._view.note(in_words.joined(line, tip))

    def _name_for_commands(self, chat: NotebookConversation) -> str | None:
        # Without a name, commands mean the chat of the last cell, which may be another one by then.
        return chat.name if len(list(self._notebook.conversations)) > 1 else None


@contextmanager
def _chat_folder(chat: NotebookConversation) -> Iterator[None]:
    try:
        make_folder(chat.cwd, chat.folder)
    except OSError as error:
        failed = f"the folder for the chat's files cannot be made: {error}"
        raise ExecutionError(failed if chat.cwd.is_dir() else _DELETED.format(str(chat.cwd))) from error
    try:
        yield
    finally:
        # A running sandbox has the old folder mounted; a new folder of the same name would be invisible inside.
        if not (chat.place.is_sandbox and chat.alive):
            remove_empty(chat.cwd, chat.folder)


def _with_way_out(error: ModelError, sentence: str) -> ModelError:
    end = "" if str(error).endswith((".", "!", "?")) else "."
    return type(error)(f"{error}{end} {sentence}", model=error.model)


def _later_runs(runs: Sequence[CellRun]) -> str:
    return "the run after it" if len(runs) == 1 else f"the {len(runs)} runs after it"
