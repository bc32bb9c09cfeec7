from pathlib import Path

import pytest

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, Permissions
from autogen_nb.kernels import preparation
from autogen_nb.kernels.guard_client import Guarded
from autogen_nb.kernels.kernel import BlockOutcome
from autogen_nb.outputs import Cleared, Display, Stream
from tests.kernels.looping import SharedKernel, shared_kernel

pytestmark = pytest.mark.kernel


def test_a_clear_is_an_event(agent: SharedKernel) -> None:
    ran = agent.execute("from IPython.display import clear_output; clear_output(wait=True); clear_output()")

    assert ran.outputs == [Cleared(wait=True), Cleared()]


@pytest.mark.slow
def test_a_plot_appears_without_a_magic(agent: SharedKernel) -> None:
    ran = agent.execute("import matplotlib.pyplot as plt; plt.plot([1, 2]); None")

    assert [set(item.data) for item in ran.outputs if isinstance(item, Display)] == [{"image/png", "text/plain"}]


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


@pytest.mark.slow
def test_a_kernel_of_another_python_gets_our_code_as_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "MAGIC_NUMBER", b"another")
    preparation._pack.cache_clear()
    try:
        with shared_kernel(tmp_path) as kernel:
            kernel.do(kernel.kernel.put({"x": [1, 2]}))
            permissions = Guarded(Permissions((Effect("compute"),)), PathScope(str(tmp_path), "", "/home/nobody"))
            denied = kernel.execute("print(x)\nopen('/etc/motd-of-ours', 'w')", permissions=permissions)
    finally:
        preparation._pack.cache_clear()

    assert denied.stdout == "[1, 2]\n"
    assert denied.failures == ["PermissionError"]
