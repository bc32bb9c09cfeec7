import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager

from autogen_nb.errors import TransferError
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.kernels.places.place import Place
from tests.contract.ways import Agent, kernel


def install(name: str, argv: list[str], language: str, **more: object) -> None:
    folder = Path(os.environ["JUPYTER_DATA_DIR"]) / "kernels" / name
    folder.mkdir(parents=True, exist_ok=True)
    spec = {"argv": [sys.executable, "-m", *argv], "display_name": name, "language": language, **more}
    (folder / "kernel.json").write_text(json.dumps(spec))


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    install("bash-of-the-test", ["bash_kernel", "-f", "{connection_file}"], "bash")
    with kernel(tmp_path_factory.mktemp("work"), place=Place(kernel="bash-of-the-test")) as agent:
        yield agent


def executor_of(agent: Agent) -> BlockExecutor:
    assert isinstance(agent.executor, BlockExecutor)
    return agent.executor


def connection(agent: Agent) -> dict[str, str]:
    handle = executor_of(agent).kernel._handle
    assert handle is not None
    return dict(json.loads((handle.folder / "k.json").read_text()))


def test_blocks_of_other_languages_are_refused(bash: Agent) -> None:
    ran = bash.python("print(1)")

    assert ran.text == "'python' blocks cannot be run here; known languages are bash\n"
    assert ran.exit_code == 1


def test_options_that_need_python_are_refused(bash: Agent) -> None:
    executor = executor_of(bash)
    for work in (executor.put({"a": 1}), executor.get("a"), executor.variables()):
        with pytest.raises(TransferError, match="kernel runs bash: only a Python kernel has variables"):
            bash.loop.run(work)


@pytest.mark.slow
def test_a_python_kernelspec_can_do_all_with_encrypted_channels(tmp_path: Path) -> None:
    # Without folders to look into there is only the one that comes with ipykernel.
    declared = KernelSpecManager(kernel_dirs=[]).get_kernel_spec("python3").metadata
    install("python-over-tcp", ["ipykernel_launcher", "-f", "{connection_file}"], "python", metadata=declared)
    with kernel(tmp_path, place=Place(kernel="python-over-tcp")) as agent:
        executor = executor_of(agent)
        agent.loop.run(executor.put({"a": 20}))
        text = agent.python("a += 1\nprint(2 * a)").text
        copied = agent.loop.run(executor.get("a"))
        told = connection(agent)
        stopped = agent.interrupted("python", "import time\nprint('on', flush=True)\ntime.sleep(99)")

    assert (text, copied) == ("42\n", 21)
    assert told["transport"] == "tcp"
    assert len(told["curve_publickey"]) == len(told["curve_secretkey"]) == 40
    assert stopped.exit_code == 130


def test_a_kernel_that_cannot_encrypt_works_without(bash: Agent) -> None:
    bash.run(("bash", "true"))

    assert "curve_publickey" not in connection(bash)
