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
    """A later block sees what an earlier one defined."""
    agent.execute("kept = 41")

    assert agent.execute("print(kept + 1)").stdout == "42\n"


def test_outputs_come_in_order(agent: SharedKernel) -> None:
    """Outputs come as the code made them: text, display, the last value."""
    ran = agent.execute("print('a'); display({'text/plain': 'b'}, raw=True); print('c'); 'd'")

    assert ran.outputs == [
        Stream("stdout", "a\n"),
        Display({"text/plain": "b"}),
        Stream("stdout", "c\n"),
        Result({"text/plain": "'d'"}),
    ]
    assert ran.finished == BlockOutcome(0)


def test_stderr_is_told_apart(agent: SharedKernel) -> None:
    """What goes to stderr is named so."""
    assert agent.execute("import sys; print('oh', file=sys.stderr)").outputs == [Stream("stderr", "oh\n")]


def test_an_error_keeps_what_came_before(agent: SharedKernel) -> None:
    """A block that fails has its earlier output, its exception, and exit code 1."""
    ran = agent.execute("print('before')\n1 / 0")

    assert ran.stdout == "before\n"
    assert isinstance(ran.outputs[-1], Failure)
    assert ran.outputs[-1].evalue == "division by zero"
    assert ran.finished == BlockOutcome(1)


def test_a_display_is_updated(agent: SharedKernel) -> None:
    """An updated display names the one that it replaces."""
    ran = agent.execute("h = display('one', display_id='x'); h.update('two')")

    assert ran.outputs == [
        Display({"text/plain": "'one'"}, display_id="x"),
        Display({"text/plain": "'two'"}, display_id="x", update=True),
    ]


def test_a_clear_is_an_event(agent: SharedKernel) -> None:
    """A request to clear the output comes through, with its wait flag."""
    ran = agent.execute("from IPython.display import clear_output; clear_output(wait=True); clear_output()")

    assert ran.outputs == [Cleared(wait=True), Cleared()]


@pytest.mark.slow
def test_a_plot_appears_without_a_magic(agent: SharedKernel) -> None:
    """A figure is displayed at the end of its block, as in a notebook."""
    ran = agent.execute("import matplotlib.pyplot as plt; plt.plot([1, 2]); None")

    assert [set(item.data) for item in ran.outputs if isinstance(item, Display)] == [{"image/png", "text/plain"}]


def test_a_frame_comes_as_a_table(agent: SharedKernel) -> None:
    """A data frame comes as HTML and as text."""
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
    """Code that leaves ends its block with that code; nothing is shown, and the kernel stays."""
    pid = agent.kernel.pid
    ran = agent.execute(code)

    assert (ran.outputs, ran.finished) == ([], BlockOutcome(exit_code))
    assert agent.execute("print('here')").stdout == "here\n"
    assert agent.kernel.pid == pid


def test_leaving_with_a_message_prints_it(agent: SharedKernel) -> None:
    """A text given to sys.exit goes to stderr, with exit code 1, as in a script."""
    ran = agent.execute("import sys; sys.exit('no such file')")

    assert (ran.outputs, ran.finished) == ([Stream("stderr", "no such file\n")], BlockOutcome(1))


def test_the_kernel_stays_after_a_namespace_reset_and_exit(agent: SharedKernel) -> None:
    """After %reset, exit still keeps the kernel."""
    pid = agent.kernel.pid
    agent.execute("%reset -f")

    assert agent.execute("exit(2)").finished == BlockOutcome(2)
    assert agent.kernel.pid == pid


def test_nothing_of_ours_is_in_sight(agent: SharedKernel) -> None:
    """Neither dir() nor %who shows anything that the code did not make."""
    agent.execute("%reset -f")

    listed = agent.execute("print([n for n in dir() if not n.startswith('_')])").stdout
    assert listed == "['In', 'Out', 'exit', 'get_ipython', 'open', 'quit']\n"
    assert agent.execute("%who").stdout == "Interactive namespace is empty.\n"


def test_input_without_a_person_is_an_error(agent: SharedKernel) -> None:
    """Code that asks where nobody can answer gets an error at once."""
    assert agent.execute("input('Name?')").failures == ["StdinNotImplementedError"]


def test_input_is_answered(agent: SharedKernel) -> None:
    """The prompt goes to the person and the answer back to the code."""
    asked: list[tuple[str, bool]] = []

    async def ask(prompt: str, password: bool) -> str:
        asked.append((prompt, password))
        return "Ada"

    code = "from getpass import getpass; print('Hello', input('Name? '), getpass('Code? '))"
    ran = agent.execute(code, ask=ask)

    assert ran.stdout == "Hello Ada Ada\n"
    assert asked == [("Name? ", False), ("Code? ", True)]


def test_no_more_input_is_the_end_of_file(agent: SharedKernel) -> None:
    """A person who has no more to say makes input() raise EOFError."""

    async def ask(prompt: str, password: bool) -> str:
        raise EOFError

    assert agent.execute("input()", ask=ask).failures == ["EOFError"]


def test_a_question_that_fails_ends_the_block(agent: SharedKernel) -> None:
    """What the asking raises reaches the caller, and the next block works."""

    async def ask(prompt: str, password: bool) -> str:
        raise LookupError("nobody")

    with pytest.raises(LookupError, match="nobody"):
        agent.execute("input()", ask=ask)
    assert agent.execute("print(1)").stdout == "1\n"


def test_a_print_is_seen_at_once(agent: SharedKernel) -> None:
    """A print is seen while its block still runs, not when the block ends."""

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
    """A flood of text arrives complete."""
    ran = agent.execute("for i in range(100_000): print('x' * 99)")

    assert len(ran.stdout) == 10_000_000


@pytest.mark.slow
def test_many_displays_arrive(agent: SharedKernel) -> None:
    """None of thousands of displays is lost."""
    ran = agent.execute("for i in range(5_000): display({'text/plain': str(i)}, raw=True)")

    assert [item.data["text/plain"] for item in ran.outputs if isinstance(item, Display)] == [
        str(number) for number in range(5_000)
    ]


def test_two_blocks_at_once_take_turns(agent: SharedKernel) -> None:
    """A block that comes while another runs waits for it."""

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
    """A helper module in the working directory can be imported; one named as a package does not hide it."""
    Path(agent.kernel.cwd, "helper_of_mine.py").write_text("value = 7")
    Path(agent.kernel.cwd, "jinja2.py").write_text("raise SystemError('shadowed')")

    ran = agent.execute("import jinja2, helper_of_mine, sys; print(helper_of_mine.value, repr(sys.path[-1]))")
    assert (ran.stdout, ran.finished.exit_code) == ("7 ''\n", 0)
