import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.kernels.kernel import LIMITED
from autogen_nb.kernels.limits import machine_memory
from autogen_nb.kernels.limits.block_limits import Limits
from tests.kernels.looping import SharedKernel, shared_kernel

MB = 10**6


def test_the_usual_memory_is_a_share_of_what_there_is() -> None:
    assert Limits.usual().memory == int(0.8 * machine_memory.memory())


@pytest.mark.parametrize(("text", "number"), [("2 GB", 2 * 10**9), ("512MiB", 2**29), ("1.5 kB", 1500), (7, 7)])
def test_bytes_are_written_as_people_do(text: object, number: int) -> None:
    assert Limits.of({"memory": text}).memory == number


def test_a_limit_can_be_taken_away() -> None:
    limits = Limits.of({"memory": None, "cpu": 2.5})

    assert limits == dataclasses.replace(Limits.usual(), memory=None, cpu=2.5)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"memroy": 1}, "did you mean 'memory'"),
        ({"x": 1}, "it has"),
        ({"memory": "much"}, "'much'"),
        ({"cpu": "2 GB"}, "'2 GB'"),
        ({"processes": 0}, "above 0"),
        ({"cpu": True}, "True"),
    ],
)
def test_a_wrong_limit_is_named(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        Limits.of(settings)


def test_a_cgroups_limit_is_read(tmp_path: Path) -> None:
    own, mounted = tmp_path / "cgroup", tmp_path / "mounted"
    own.write_text("7:cpu:/other\n0::/a/b\n")
    inner = mounted / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "memory.max").write_text("max\n")
    (inner.parent / "memory.max").write_text("123456\n")

    assert list(machine_memory.cgroup_limits(own, mounted)) == [123456]


@pytest.mark.parametrize(("total", "count"), [(2**29, 0), (2**30, 1), (2**34, 3)])
def test_less_is_imported_ahead_where_memory_is_small(total: int, count: int) -> None:
    assert machine_memory.preimports(total=total) == machine_memory.USUAL[:count]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedKernel]:
    limits = Limits(memory=600 * MB, processes=80, cpu=1.5, output=MB)
    with shared_kernel(tmp_path_factory.mktemp("work"), grace=5, limits=limits) as shared:
        yield shared


pytestmark = pytest.mark.kernel


@pytest.mark.slow
def test_the_processor_time_limit_ends_a_block(agent: SharedKernel) -> None:
    assert agent.execute("import time\ntime.sleep(2)").finished.ok
    ran = agent.execute("while True: pass")

    assert ran.finished.exit_code == LIMITED
    assert "processor time limit of 1.5 s" in ran.finished.note


def test_too_many_processes_are_ended(agent: SharedKernel) -> None:
    start = "for _ in range(75): c.append(subprocess.Popen(['sleep', '60']))"
    code = f"import subprocess, time\nkept, c = 6, []\n{start}\ntime.sleep(50)"
    ran = agent.execute(code)

    assert ran.finished.exit_code == LIMITED
    assert "processes limit of 80" in ran.finished.note
    # A few may have been started between the look and the interrupt.
    ended = "sum(child.poll() is not None for child in c)"
    assert agent.execute(f"print(kept, {ended} > 40)").stdout == "6 True\n"
    agent.execute("for child in c: child.kill()\nfor child in c: child.wait()")
