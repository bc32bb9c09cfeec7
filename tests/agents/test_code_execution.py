import asyncio
import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.chats.initiated_chat import ChatOptions, TwoAgentChat
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.effects import EffectJudged
from autogen_nb.engine import engine
from autogen_nb.events import CodeInputAsked, CodeInputGiven, CodeRan, Ended, Event, OutputAdded, Recorded
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.human.rule_based_approver import NobodyToAsk
from autogen_nb.outputs import Failure, Stream
from autogen_nb.run import Log
from autogen_nb.testing import ScriptedHuman, ScriptedModel
from autogen_nb.views.plain_view import PlainView
from tests.agents.chatting import Way, assistant, events, stream, user
from tests.processes import gone


@pytest.fixture(scope="module")
def executor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BlockExecutor]:
    made = BlockExecutor(cwd=tmp_path_factory.mktemp("work"), grace=3.0)
    yield made
    engine.call(made.stop())


def python(code: str) -> str:
    return f"```python\n{code}\n```"


def held(
    way: Way, executor: BlockExecutor, code: str, human: Any, log: Log | None = None, confirm: str = "never"
) -> list[Event]:
    config = {"executor": executor, "confirm": confirm}
    proxy = user(code_execution_config=config, is_termination_msg=lambda m: "Done" in m["content"])
    talk = TwoAgentChat(
        proxy, assistant(python(code), "Done."), ChatOptions("Go", silent=True), waits=way, human=human, log=log
    )
    return events(way, talk)


def ran(events: Sequence[Event | Recorded]) -> CodeRan:
    (found,) = [event for event in events if isinstance(event, CodeRan)]
    return found


def printed(events: Sequence[Event]) -> str:
    outputs = [event.output for event in events if isinstance(event, OutputAdded)]
    return "".join(output.text for output in outputs if isinstance(output, Stream))


def test_end_of_input_is_an_error_in_the_code_and_a_replay_asks_nobody(executor: BlockExecutor) -> None:
    log: Log = []
    code = "print(input())\ninput()"
    held("sync", executor, code, ScriptedHuman(typing=["once", None]), log)

    again = held("sync", executor, code, ScriptedHuman(), list(log))

    assert [output.ename for output in ran(log).outputs if isinstance(output, Failure)] == ["EOFError"]
    assert ran(again) == ran(log)


@pytest.mark.parametrize(
    ("end", "last"),
    [("'val' + 'ue'", {"text/plain": "'value'"}), ("1 / 0", "ZeroDivisionError")],
    ids=["value", "error"],
)
def test_the_end_of_a_block_is_kept_after_many_outputs(executor: BlockExecutor, end: str, last: Any) -> None:
    log: Log = []
    held("sync", executor, f"for n in range(230): display(n); print(n, end='')\n{end}", ScriptedHuman(), log)

    ends = [each.ename if isinstance(each, Failure) else getattr(each, "data", None) for each in ran(log).outputs]
    assert last in ends[-2:]


# The name is made up while it runs: no reading knows that a file is written.
HIDDEN = "print('before')\neval(chr(111) + \"pen('hidden', 'w').close()\")\nprint('after')"


def test_allowed_act_goes_on_and_a_stopped_one_ends_the_chat(executor: BlockExecutor) -> None:
    # Chats without questions have started its kernel without a guard.
    engine.call(executor.stop())
    allowed = held("sync", executor, HIDDEN, ScriptedHuman(approvals=["run"], effects=[True]), confirm="always")
    stop = ScriptedHuman(approvals=["run"], effects=[EffectJudged(allowed=False, stop=True)])
    (executor.cwd / "hidden").unlink()

    stopped = held("sync", executor, HIDDEN, stop, confirm="always")

    assert printed(allowed) == "before\nafter\n"
    assert [event.reason for event in stopped if isinstance(event, Ended)] == ["stopped"]
    assert not (executor.cwd / "hidden").exists()


class Silent(ScriptedHuman):
    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()

    async def typed(self, question: CodeInputAsked) -> CodeInputGiven:  # type: ignore[override]  # an answer may be awaitable
        self.reached.set()
        await asyncio.Event().wait()
        raise AssertionError


def test_cancelled_chat_leaves_no_question_behind(executor: BlockExecutor) -> None:
    async def main() -> None:
        human = Silent()
        proxy = user(code_execution_config={"executor": executor})
        talk = TwoAgentChat(
            proxy, assistant(python("input()")), ChatOptions("Go", silent=True), waits="async", human=human
        )

        task = asyncio.ensure_future(stream(talk))
        async with asyncio.timeout(30):
            await human.reached.wait()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(main())

    assert printed(held("sync", executor, "print('next')", NobodyToAsk())) == "next\n"


def test_plain_view_has_a_line_for_each_decision(executor: BlockExecutor) -> None:
    written: list[str] = []
    view = PlainView(written.append)
    code = "from getpass import getpass; input('Name? '); getpass('Code? ')"

    for event in held("sync", executor, code, ScriptedHuman(typing=["Ada", "hunter2"])):
        view.show(event)

    lines = [line for line in "".join(written).splitlines() if "Typed" in line]
    assert lines == [
        ">>> Typed for the code (`Name?`): `Ada` · by scripted",
        ">>> Typed for the code (`Code?`): a password · by scripted",
    ]


@pytest.mark.slow
def test_kernels_of_agents_that_nobody_has_are_given_back(tmp_path: Path) -> None:
    def cell() -> tuple[ConversableAgent, int]:
        writer = AssistantAgent(
            "writer", llm_config=ScriptedModel(["```python\nimport os; print(os.getpid())\n```", "Fine."])
        )
        runner = UserProxyAgent("runner", human_input_mode="NEVER", code_execution_config={"work_dir": str(tmp_path)})
        runner.initiate_chat(writer, message="Go.", max_turns=2, silent=True)
        return runner, int(str(runner.chat_messages[writer][2]["content"]).split()[-1])

    gc.disable()
    try:
        kept, kept_pid = cell()
        pid = cell()[1]
        last_kept, last = cell()
        given_back = gone([pid])
    finally:
        gc.enable()

    assert given_back
    assert kept_pid != last
    assert [each.run_code("1")[0] for each in (kept, last_kept)] == [0, 0]
