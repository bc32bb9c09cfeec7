from pathlib import Path

import psutil  # type: ignore[import-untyped]  # psutil has no annotations
import pytest

from autogen_nb.testing import FakeOpenAI
from tests.notebook.conftest import environment, python, run_chat
from tests.notebook.front_end import FrontEnd

pytestmark = pytest.mark.slow

_STATE = """
ip = get_ipython()
state = (
    sorted(kind for kind in ("line", "cell") if "autogen" in ip.magics_manager.magics[kind]),
    "AutogenMagics" in ip.magics_manager.registry,
    len(ip.input_transformers_post),
    {name: len(found) for name, found in ip.events.callbacks.items()},
    [type(each).__name__ for each in ip.configurables].count("AutogenMagics"),
)
"""


def agents_kernels(front: FrontEnd) -> list[psutil.Process]:
    process = psutil.Process(front.pid)
    found = []
    for child in process.children(recursive=True):
        try:
            command, name = " ".join(child.cmdline()), child.name()
        except psutil.Error:
            continue
        is_kernel = "kernels/inside/kernel_main.py" in command and "supervisor" not in command
        found += [child] if is_kernel and name != "checkpoint" else []
    return found


def test_unloading_leaves_nothing_behind(fresh: FrontEnd, model: FakeOpenAI) -> None:
    fresh.run("%unload_ext autogen_nb")
    before = fresh.value(f"(exec({_STATE!r}), state)[1]")

    fresh.run("%load_ext autogen_nb")
    run_chat(fresh, model, python("1"), "One.", cell="one")
    run_chat(fresh, model, python("2"), "Two.", cell="two", options="-c other")
    started = agents_kernels(fresh)
    fresh.run("%unload_ext autogen_nb")
    after = fresh.value(f"(exec({_STATE!r}), state)[1]")

    assert before.startswith("([], False, ")
    assert before.endswith(", 0)")
    assert after == before
    assert len(started) == 2
    fresh.wait(lambda: agents_kernels(fresh) == [], "the agents' kernels to end", within=10)
    fresh.run("%load_ext autogen_nb")


def test_loading_starts_a_kernel_that_a_killed_notebook_takes_with_it(tmp_path: Path) -> None:
    with FrontEnd(tmp_path, environment(tmp_path)) as front:
        front.run("%load_ext autogen_nb")
        front.wait(lambda: len(agents_kernels(front)) == 1, "the agent's kernel")
        agent = agents_kernels(front)[0]
        front.manager.signal_kernel(9)
        gone, _ = psutil.wait_procs([agent], timeout=10)

    assert [process.pid for process in gone] == [agent.pid]
