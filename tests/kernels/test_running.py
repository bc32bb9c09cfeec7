"""What a block's outputs are, and how it ends."""

import asyncio
import time
from pathlib import Path

import pytest

from autogen_nb.kernels.kernel import BlockOutcome
from autogen_nb.outputs import Cleared, Display, Failure, Result, Stream
from tests.kernels.looping import SharedKernel

pytestmark = pytest.mark.kernel


def test_state_persists(agent: SharedKernel) -> None:
    agent.execute("kept = 41")

    assert agent.execute("print(kept + 1)").stdout == "42\n"


def test_outputs_come_in_order(agent: SharedKernel) -> None:
    ran = agent.execute("print('a'); display({'text/plain': 'b'}, raw=True); print('c'); 'd'")

    assert ran.outputs == [
        Stream("stdout", "a\n"),
        Display({"text/plain": "b"}),
        Stream("stdout", "c\n"),
        Result({"text/plain": "'d'"}),
    ]
    assert ran.finished == BlockOutcome(0)


def test_stderr_is_told_apart(agent: SharedKernel) -> None:
    assert agent.execute("import sys; print('oh', file=sys.stderr)").outputs == [Stream("stderr", "oh\n")]


def test_an_error_keeps_what_came_before(agent: SharedKernel) -> None:
    ran = agent.execute("print('before')\n1 / 0")

    assert ran.stdout == "before\n"
    assert isinstance(ran.outputs[-1], Failure)
    assert ran.outputs[-1].evalue == "division by zero"
    assert ran.finished == BlockOutcome(1)


def test_a_display_is_updated(agent: SharedKernel) -> None:
    ran = agent.execute("h = display('one', display_id='x'); h.update('two')")

    assert ran.outputs == [
        Display({"text/plain": "'one'"}, display_id="x"),
        Display({"text/plain": "'two'"}, display_id="x", update=True),
    ]


def test_a_clear_is_an_event(agent: SharedKernel) -> None:
    ran = agent.execute("from IPython.display import clear_output; clear_output(wait=True); clear_output()")

    assert ran.outputs == [Cleared(wait=True), Cleared()]


@pytest.mark.slow
def test_a_plot_appears_without_a_magic(agent: SharedKernel) -> None:
    ran = agent.execute("import matplotlib.pyplot as plt; plt.plot([1, 2]); None")

    assert [set(item.data) for item in ran.outputs if isinstance(item, Display)] == [{"image/png", "text/plain"}]


def test_a_frame_comes_as_a_table(agent: SharedKernel) -> None:
    (result,) = agent.execute("import pandas as pd; pd.DataFrame({'a': [1]})").outputs

    assert isinstance(result, Result)
    assert {"text/html", "text/plain"} <= set(result.data)


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("exit", 0), ("exit()", 0), ("quit()", 0), ("import sys\nsys.exit()", 0), ("import sys\nsys.exit(3)", 3),
        ("exit(4)\nprint('not reached')", 4), ("raise SystemExit", 0), ("raise SystemExit(None)", 0),
    ],
)  # fmt: skip
def test_leaving_sets_the_exit_code_and_keeps_the_kernel(agent: SharedKernel, code: str, exit_code: int) -> None:
    pid = agent.kernel.pid
    ran = agent.execute(code)

    assert (ran.outputs, ran.finished) == ([], BlockOutcome(exit_code))
    assert agent.execute("print('here')").stdout == "here\n"
    assert agent.kernel.pid == pid


def test_leaving_with_a_message_prints_it(agent: SharedKernel) -> None:
    ran = agent.execute("import sys; sys.exit('no such file')")

    assert (ran.outputs, ran.finished) == ([Stream("stderr", "no such file\n")], BlockOutcome(1))


def test_the_kernel_stays_after_a_namespace_reset_and_exit(agent: SharedKernel) -> None:
    pid = agent.kernel.pid
    agent.execute("%reset -f")

    assert agent.execute("exit(2)").finished == BlockOutcome(2)
    assert agent.kernel.pid == pid


def test_nothing_of_ours_is_in_sight(agent: SharedKernel) -> None:
    agent.execute("%reset -f")

    listed = agent.execute("print([n for n in dir() if not n.startswith('_')])").stdout
    assert listed == "['In', 'Out', 'exit', 'get_ipython', 'open', 'quit']\n"
    assert agent.execute("%who").stdout == "Interactive namespace is empty.\n"


def test_input_without_a_person_is_an_error(agent: SharedKernel) -> None:
    assert agent.execute("input('Name?')").failures == ["StdinNotImplementedError"]


def test_input_is_answered(agent: SharedKernel) -> None:
    asked: list[tuple[str, bool]] = []

    async def ask(prompt: str, password: bool) -> str:
        asked.append((prompt, password))
        return "Ada"

    code = "from getpass import getpass; print('Hello', input('Name? '), getpass('Code? '))"
    ran = agent.execute(code, ask=ask)

    assert ran.stdout == "Hello Ada Ada\n"
    assert asked == [("Name? ", False), ("Code? ", True)]


def test_no_more_input_is_the_end_of_file(agent: SharedKernel) -> None:
    async def ask(prompt: str, password: bool) -> str:
        raise EOFError

    assert agent.execute("input()", ask=ask).failures == ["EOFError"]


def test_a_question_that_fails_ends_the_block(agent: SharedKernel) -> None:
    async def ask(prompt: str, password: bool) -> str:
        raise LookupError("nobody")

    with pytest.raises(LookupError, match="nobody"):
        agent.execute("input()", ask=ask)
    assert agent.execute("print(1)").stdout == "1\n"


def test_a_print_is_seen_at_once(agent: SharedKernel) -> None:
    async def seen() -> bool:
        started = time.perf_counter()
        items = agent.kernel.execute("import time\nprint('now')\ntime.sleep(1)")
        await anext(items)
        first = time.perf_counter() - started
        async for _ in items:
            pass
        return first < (time.perf_counter() - started) / 2

    assert agent.do(seen())


@pytest.mark.slow
def test_ten_megabytes_arrive_whole(agent: SharedKernel) -> None:
    ran = agent.execute("for i in range(100_000): print('x' * 99)")

    assert len(ran.stdout) == 10_000_000


@pytest.mark.slow
def test_many_displays_arrive(agent: SharedKernel) -> None:
    ran = agent.execute("for i in range(5_000): display({'text/plain': str(i)}, raw=True)")

    assert [item.data["text/plain"] for item in ran.outputs if isinstance(item, Display)] == [
        str(number) for number in range(5_000)
    ]


def test_two_blocks_at_once_take_turns(agent: SharedKernel) -> None:
    async def both() -> tuple[str, str]:
        async def text(code: str) -> str:
            items = agent.kernel.execute(code)
            return "".join([item.text async for item in items if isinstance(item, Stream)])

        one, two = await asyncio.gather(
            text("import time; time.sleep(0.1); turn = 1; print(turn)"), text("print(turn)")
        )
        return one, two

    assert agent.do(both()) == ("1\n", "1\n")


def test_a_module_beside_the_notebook_is_found_but_shadows_nothing(agent: SharedKernel) -> None:
    Path(agent.kernel.cwd, "helper_of_mine.py").write_text("value = 7")
    Path(agent.kernel.cwd, "jinja2.py").write_text("raise SystemError('shadowed')")

    ran = agent.execute("import jinja2, helper_of_mine, sys; print(helper_of_mine.value, repr(sys.path[-1]))")
    assert (ran.stdout, ran.finished.exit_code) == ("7 ''\n", 0)
