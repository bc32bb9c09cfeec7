import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.kernels.limits.block_limits import Limits
from autogen_nb.kernels.limits.cgroups import Cgroup, parse_counter
from autogen_nb.kernels.places.local import LOCAL
from autogen_nb.kernels.places.place import Place
from tests.contract.ways import Cannot, _bubblewrap
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


@pytest.fixture(scope="module")
def real() -> None:
    cgroup = Cgroup.create(LIMITS)
    if cgroup is None:
        pytest.skip("no cgroup for memory and processes can be made here")
    cgroup.remove()


@pytest.fixture(scope="module", params=["local", "bwrap"])
def agent(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedKernel]:
    place: Place = LOCAL
    if request.param == "bwrap":
        try:
            place = _bubblewrap()
        except Cannot as cannot:
            pytest.skip(str(cannot))
    with shared_kernel(tmp_path_factory.mktemp("work"), limits=LIMITS, place=place) as shared:
        yield shared


@pytest.mark.kernel
@pytest.mark.usefixtures("real")
class TestForReal:
    @pytest.mark.slow
    def test_the_kernel_is_in_its_cgroup(self, agent: SharedKernel) -> None:
        handle = agent.kernel._life.handle
        assert handle is not None
        assert handle.cgroup is not None

        inside = int((handle.cgroup.folder / "cgroup.procs").read_text().split()[0])
        members = (handle.cgroup.folder / "cgroup.procs").read_text().split()

        assert str(inside) in members
        assert handle.root_pid is not None
        assert str(handle.root_pid) not in members

    @pytest.mark.slow
    def test_it_goes_with_an_owner_that_is_killed(self, tmp_path: Path) -> None:
        program = (
            "import asyncio, os, signal\n"
            "from autogen_nb.kernels.kernel import Kernel\n"
            "async def main():\n"
            f"    kernel = Kernel(cwd={str(tmp_path)!r})\n"
            "    await kernel.start()\n"
            "    print(kernel._life.handle.cgroup.folder, flush=True)\n"
            "    os.kill(os.getpid(), signal.SIGKILL)\n"
            "asyncio.run(main())\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=120, check=False
        )
        folders = {Path(folder) for folder in done.stdout.split()}

        assert folders
        assert waited(lambda: not any(folder.exists() for folder in folders))
