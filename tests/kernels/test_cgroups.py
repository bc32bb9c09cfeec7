import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.errors import ConfigError
from autogen_nb.kernels.limits import block_limits
from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import Cgroup, parse_counter
from autogen_nb.kernels.outcome import LIMITED
from tests.kernels.looping import SharedKernel, shared_kernel
from tests.processes import waited

MB = 10**6
LIMITS = Limits(memory=400 * MB, processes=60)


def hierarchy(folder: Path, own: str, *folders: str) -> tuple[Path, Path]:
    mounted = folder / "mounted"
    for each in folders:
        (mounted / each).mkdir(parents=True)
    (folder / "own").write_text(own)
    return folder / "own", mounted


@pytest.mark.parametrize("below", [True, False], ids=["below", "beside"])
def test_version_2_has_one_folder_where_controllers_are_handed_on(tmp_path: Path, below: bool) -> None:
    own, mounted = hierarchy(tmp_path, "0::/user/app\n", "user/app")
    handing = mounted / "user" / "app" if below else mounted / "user"
    (handing / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (handing / "cgroup.procs").write_text("")

    cgroup = Cgroup.create(LIMITS, own, mounted)

    assert cgroup is not None
    assert cgroup.folder.parent == handing
    assert (cgroup.folder / "memory.max").read_text() == str(500 * MB)
    assert (cgroup.folder / "memory.swap.max").read_text() == "0"
    assert (cgroup.folder / "pids.max").read_text() == "75"


@pytest.mark.parametrize(
    ("own", "handed"),
    [("0::/a\n", "cpu\n"), ("0::/a\n", None), ("", None), ("nonsense", None), ("4:memory:/not/there\n", None)],
    ids=["not handed on", "no file", "no cgroup", "nonsense", "no folder"],
)
def test_no_private_cache_where_none_can_be_made(tmp_path: Path, own: str, handed: str | None) -> None:
    file, mounted = hierarchy(tmp_path, own, "a")
    for name, text in (("cgroup.subtree_control", handed), ("cgroup.procs", "")):
        if text is not None:
            (mounted / "a" / name).write_text(text)

    assert Cgroup.create(LIMITS, file, mounted) is None
    assert [path.name for path in mounted.rglob("autogen_nb-*")] == []


def test_a_counter_that_is_none_counts_as_nothing() -> None:
    assert [parse_counter(text, "max") for text in ("", "max", "max x", "maximum 3", "max 3\n")] == [0, 0, 0, 0, 3]


@pytest.mark.slow
def test_the_kernel_is_in_a_cgroup_that_goes_with_an_owner_that_is_killed(tmp_path: Path) -> None:
    if (cgroup := Cgroup.create(LIMITS)) is None:
        pytest.skip("no cgroup for memory and processes can be made here")
    cgroup.remove()
    program = (
        "import asyncio, os, signal\n"
        "from autogen_nb.kernels.kernel import Kernel\n"
        "async def main():\n"
        f"    kernel = Kernel(cwd={str(tmp_path)!r})\n"
        "    await kernel.start()\n"
        "    handle, folder = kernel._handle, kernel._handle.cgroup.folder\n"
        "    print(folder, kernel.pid, handle.root_pid, *(folder / 'cgroup.procs').read_text().split(), flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=120, check=False)
    folder, kernel, supervisor, *members = done.stdout.split()

    assert kernel in members
    assert supervisor not in members
    assert waited(lambda: not Path(folder).exists())


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

    assert list(block_limits.cgroup_limits(own, mounted)) == [123456]


@pytest.mark.parametrize(("total", "count"), [(2**29, 0), (2**30, 1), (2**34, 3)])
def test_less_is_imported_ahead_where_memory_is_small(total: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_limits, "machine_memory", lambda: total)

    assert block_limits.preimports(block_limits.USUAL) == block_limits.USUAL[:count]


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedKernel]:
    limits = Limits(memory=600 * MB, processes=80, cpu=1.5, output=MB)
    with shared_kernel(tmp_path_factory.mktemp("work"), grace=5, limits=limits) as shared:
        yield shared


@pytest.mark.slow
def test_the_processor_time_limit_ends_a_block(limited: SharedKernel) -> None:
    assert limited.execute("import time\ntime.sleep(2)").finished.ok
    ran = limited.execute("while True: pass")

    assert ran.finished.exit_code == LIMITED
    assert "processor time limit of 1.5 s" in ran.finished.note


def test_too_many_processes_are_ended(limited: SharedKernel) -> None:
    start = "for _ in range(75): c.append(subprocess.Popen(['sleep', '60']))"
    code = f"import subprocess, time\nkept, c = 6, []\n{start}\ntime.sleep(50)"
    ran = limited.execute(code)

    assert ran.finished.exit_code == LIMITED
    assert "processes limit of 80" in ran.finished.note
    # A few may have been started between the look and the interrupt.
    ended = "sum(child.poll() is not None for child in c)"
    assert limited.execute(f"print(kept, {ended} > 40)").stdout == "6 True\n"
    limited.execute("for child in c: child.kill()\nfor child in c: child.wait()")
