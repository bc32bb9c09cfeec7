import asyncio
import sys
from pathlib import Path

import pytest

from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.policy.permissions import Guarded
from autogen_nb.effects import Effect, Permissions
from autogen_nb.kernels import launch
from autogen_nb.kernels.outcome import BlockOutcome
from autogen_nb.kernels.places.local import LOCAL
from autogen_nb.kernels.transfer import variable_exchange
from autogen_nb.outputs import Cleared, Output, Stream
from tests.kernels.looping import SharedKernel, bubblewrap, shared_kernel, stream


def test_a_clear_is_an_event(agent: SharedKernel) -> None:
    ran = agent.execute("from IPython.display import clear_output; clear_output(wait=True); clear_output()")

    assert ran.outputs == [Cleared(wait=True), Cleared()]


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


def test_output_of_programs_and_libraries_arrives_before_the_end(agent: SharedKernel) -> None:
    code = "import os\nos.write({}, b'{}\\n')"
    blocks = [(stream, number) for number in range(50) for stream in (1, 2)]

    outputs = [agent.execute(code.format(stream, number)).outputs for stream, number in blocks]

    written = [(each.name, each.text) for output in outputs for each in output if isinstance(each, Stream)]
    assert written == [(("stdout", "stderr")[stream - 1], f"{number}\n") for stream, number in blocks]


def test_a_question_that_fails_ends_the_block(agent: SharedKernel) -> None:
    async def ask(prompt: str, password: bool) -> str:
        raise LookupError("nobody")

    with pytest.raises(LookupError, match="nobody"):
        agent.execute("input()", ask=ask)
    assert agent.execute("print(1)").stdout == "1\n"


@pytest.mark.slow
def test_a_kernel_of_another_python_gets_our_code_as_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "MAGIC_NUMBER", b"another")
    launch.pack_modules.cache_clear()
    try:
        with shared_kernel(tmp_path, guard=True) as kernel:
            kernel.do(variable_exchange.put(kernel.kernel, {"x": [1, 2]}))
            permissions = Guarded(Permissions((Effect("compute"),)), PathScope(str(tmp_path), "", "/home/nobody"))
            denied = kernel.execute("print(x)\nopen('/etc/motd-of-ours', 'w')", permissions=permissions)
    finally:
        launch.pack_modules.cache_clear()

    assert denied.stdout == "[1, 2]\n"
    assert denied.failures == ["PermissionError"]


def test_display_comes_before_the_question(agent: SharedKernel) -> None:
    seen: list[int] = []
    count = 0

    async def ask(prompt: str, password: bool) -> str:
        seen.append(count)
        return ""

    def note(_: Output) -> None:
        nonlocal count
        count += 1

    async def run() -> None:
        await agent.kernel.execute("for i in range(50): display(i)\ninput()", note, ask=ask)

    agent.do(run())

    assert seen == [50]


LATE = {
    # Stops the supervisor, which forwards signals, until after the block's end.
    "signal": """
import os, signal, subprocess
supervisor = os.getppid()
os.kill(supervisor, signal.SIGSTOP)
def end():
    subprocess.Popen(f"sleep 0.7; kill -CONT {supervisor}", shell=True, start_new_session=True)
""",
    "message": """
import asyncio
handlers = get_ipython().kernel.control_handlers
interrupt = handlers["interrupt_request"]
async def late(*arguments):
    await asyncio.sleep(0.7)
    await interrupt(*arguments)
handlers["interrupt_request"] = late
end = int
""",
}


@pytest.mark.skipif(sys.platform != "linux", reason="supervisors and bwrap need Linux")
@pytest.mark.parametrize("way", LATE)
def test_a_late_interrupt_does_not_stop_the_next_block(tmp_path: Path, way: str) -> None:
    place = LOCAL if way == "signal" else bubblewrap()
    block = "import pathlib, time\nprint('on', flush=True)\nwhile not pathlib.Path('go').exists(): pass\nend()"

    async def run(agent: SharedKernel) -> Output | BlockOutcome:
        items = stream(agent.kernel, LATE[way] + block)
        await anext(items)
        await agent.kernel.interrupt()
        (tmp_path / "go").touch()
        return [item async for item in items][-1]

    with shared_kernel(tmp_path, provisioner=place, grace=5) as agent:
        assert agent.do(run(agent)) == BlockOutcome(0)
        assert agent.execute("for _ in range(100): time.sleep(0.01)\nprint('ran')").stdout == "ran\n"


def test_kernel_that_does_not_tell_is_waited_for_shortly(agent: SharedKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("autogen_nb.kernels.request._OUTPUT_WAIT", 0.01)
    monkeypatch.setattr("autogen_nb.kernels.channels.KernelChannels.ask", silent)

    async def ask(prompt: str, password: bool) -> str:
        return "here"

    assert agent.execute("print(input())", ask=ask).stdout == "here\n"
