"""The guard at the system call: code is asked about where it happens, in native code and in other processes, too."""

import asyncio
import os
import socket
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autogen_nb.effects import Effect, EffectJudged
from autogen_nb.kernels.guard.confine import why_impossible
from autogen_nb.kernels.guard_client import config
from autogen_nb.outputs import Output, Stream
from tests.corpus import sections
from tests.kernels.guarded import ALLOWED, GuardedKernel, errors, guarded_kernel
from tests.kernels.looping import bubblewrap

psutil = pytest.importorskip("psutil")
pytestmark = pytest.mark.skipif(bool(why_impossible()), reason=why_impossible())

NATIVE = dict(sections(Path(__file__).with_name("native_effects.txt")))
"""Below ``name | kind target`` a program whose effect is in native code, or in another thread or process."""

PROGRAMS = dict(sections(Path(__file__).with_name("guard_effects.txt")))
"""Below ``name | kind target`` a program whose effect is asked about, below ``name | nothing`` one that may run."""

USED = """
import json, os, pathlib, shutil, socket, sqlite3, subprocess, sys, tempfile
number = lambda name: os.open(name, os.O_RDONLY)
database = lambda address: sqlite3.connect(address, uri=True)
DRAW = sys.modules["autogen_nb_service"].DRAW
"""
"""What an earlier block has run."""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKernel]:
    folder = tmp_path_factory.mktemp("system")
    (folder / "elsewhere.txt").write_text("theirs")
    (folder / "key.pem").write_text("KEY")
    with guarded_kernel(folder) as made:
        (made.folder / "data.csv").write_text("a,b\n1,2\n")
        (made.folder / ".env").write_text("KEY=1")
        made.run(USED)
        yield made


@pytest.fixture(autouse=True)
def _own(kernel: GuardedKernel) -> None:
    # The programs may remove what they like here.
    kernel.own.mkdir(parents=True, exist_ok=True)
    (kernel.own / "x").touch()
    if not (kernel.own / "link").is_symlink():
        (kernel.own / "link").symlink_to(kernel.folder.parent / "elsewhere.txt")


async def nobody() -> EffectJudged:
    answer: asyncio.Future[EffectJudged] = asyncio.get_running_loop().create_future()
    return await answer


def tree(folder: Path) -> dict[str, tuple[int, int]]:
    paths = [path for path in folder.rglob("*") if "autogen_files" not in path.parts]
    return {str(path): (path.stat().st_mode, path.stat().st_mtime_ns if path.is_file() else 0) for path in paths}


@pytest.mark.parametrize("head", [head for head in PROGRAMS if head.endswith("| nothing")])
def test_harmless(kernel: GuardedKernel, head: str) -> None:
    ran = kernel.run(PROGRAMS[head])

    assert kernel.asked == []
    assert not [error for error in errors(ran) if "denied" in error]


@pytest.mark.parametrize("head", [head for head in (*PROGRAMS, *NATIVE) if not head.endswith("| nothing")])
def test_risky(kernel: GuardedKernel, head: str) -> None:
    kind, _, target = head.partition(" | ")[2].partition(" ")
    before = tree(kernel.folder)

    kernel.run({**PROGRAMS, **NATIVE}[head], *([] if kind in ("process", "install", "any") else [Effect("process")]))

    assert tree(kernel.folder) == before
    effect = kernel.asked[0]
    assert kind in (effect.kind, "any")
    assert target in ("", "any") or effect.target in (target, os.path.normpath(kernel.folder / target))


def test_allowed_effects_happen_as_without_a_guard(kernel: GuardedKernel) -> None:
    code = """
import os, socket, sqlite3
os.umask(0o027)
os.makedirs('made/deep')
with open('made/deep/file', 'x') as file: file.write('one')
with open('made/deep/file', 'a') as file: file.write('two')
os.chmod('made/deep/file', 0o644); os.truncate('made/deep/file', 4); os.utime('made/deep/file', (1, 2.5))
os.setxattr('made/deep/file', 'user.a', b'b'); os.rename('made/deep/file', 'made/renamed')
os.symlink('renamed', 'made/link'); os.link('made/renamed', 'made/hard')
with sqlite3.connect('made/a.db') as db: db.execute('create table t(a)')
print(open('made/link').read(), os.getxattr('made/link', 'user.a'))
status = os.stat('made/link'); print(oct(status.st_mode), status.st_mtime, status.st_nlink)
print(oct(os.stat('made').st_mode), sorted(os.listdir('made')))
server = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(('localhost', server.getsockname()[1]))
client.sendall(b'x'); print(server.accept()[0].recv(1))
import shutil; shutil.rmtree('made')
"""
    ran = kernel.run(code, answer=ALLOWED)

    assert errors(ran) == []
    assert ran.stdout.splitlines() == [
        "onet b'b'",
        "0o100644 2.5 2",
        "0o40750 ['a.db', 'deep', 'hard', 'link', 'renamed']",
        "b'x'",
    ]
    assert [(effect.kind, effect.target) for effect in kernel.asked] == [("write", str(kernel.folder / "made"))]
    assert not (kernel.folder / "made").exists()


@pytest.mark.parametrize(
    "code",
    [
        "call(425, 1, 0)",  # io_uring_setup
        "call(323, 0)",  # userfaultfd
        "call(272, 0x10000000)",  # unshare, a namespace of users
        "call(317, 1, 8, 0)",  # seccomp, another listener
        "call(250, 0, -3, 0)",  # keyctl
        "call(103, 3, 0, 0)",  # syslog, which reads the kernel's log
        "import fcntl; fcntl.ioctl(open('data.csv'), 0x40086602, bytes([16, *bytes(7)]))",  # FS_IOC_SETFLAGS
        "os.setpriority(os.PRIO_USER, 0, 5)",
        "open(f'/proc/{os.getppid()}/environ').read()",
        "open(f'/proc/{os.getppid()}/mem', 'rb')",
        "os.open('/', os.O_RDONLY | os.O_PATH); open('/proc/self/root/etc/shadow')",
    ],
)
def test_walls_refuse_without_a_question(kernel: GuardedKernel, code: str) -> None:
    call = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    if libc.syscall(*arguments) < 0: raise OSError(ctypes.get_errno(), 'refused')
"""
    ran = kernel.run(call + code)

    assert [effect.kind for effect in kernel.asked] in ([], ["read_private"])
    assert errors(ran)


def test_name_is_asked_about_once(kernel: GuardedKernel) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"""
import socket
for host in ('localhost', '127.0.0.1', 'localhost'):
    socket.create_connection((host, {server.getsockname()[1]})).close()
"""
        assert kernel.targets(code, answer=ALLOWED) == ["localhost"]
        assert kernel.targets(code, Effect("network", "localhost")) == []
        assert kernel.targets(code) == ["localhost"]


def test_permission_to_write_covers_nothing_else(kernel: GuardedKernel) -> None:
    folder = kernel.folder.parent / "elsewhere"
    (folder / "old").mkdir(parents=True)
    (folder / "old" / "secret.txt").write_text("s")
    code = f"""
import os, shutil
up = {str(folder)!r}
with open(up + '/new.txt', 'w') as file: file.write('a')
os.makedirs(up + '/made/deep'); open(up + '/made/deep/a', 'w').close(); os.replace(up + '/made/deep/a', up + '/made/b')
print(open(up + '/made/b').read(), open(up + '/new.txt').read()); shutil.rmtree(up + '/made')
for call in (lambda: os.utime(up), lambda: os.chmod(up, 0o700), lambda: os.remove(up + '/old/secret.txt'),
             lambda: open(up + '/old/secret.txt').read(), lambda: shutil.rmtree(up + '/old')):
    try: call()
    except PermissionError: print('denied')
"""
    let = [Effect("write", str(folder / name)) for name in ("new.txt", "made/deep/a")]

    ran = kernel.run(code, *let)

    assert errors(ran) == []
    assert ran.stdout.split() == ["a", *["denied"] * 5]
    assert [(each.kind, each.target.removeprefix(str(folder))) for each in kernel.asked] == [
        ("write", ""),
        ("delete", "/old/secret.txt"),
        ("read_private", "/old/secret.txt"),
    ]
    assert (folder / "old" / "secret.txt").read_text() == "s"


@pytest.mark.parametrize("way", ["{0!r}", "os.path.join('/dev', '.', 'pts', {1!r})", "linked({0!r})"])
def test_terminal_of_a_person(kernel: GuardedKernel, way: str) -> None:
    main, other = os.openpty()
    name = os.ttyname(other)
    code = f"""
import os
def linked(path):
    os.symlink(path, 'autogen_files/chat/terminal'); return 'autogen_files/chat/terminal'
open({way.format(name, Path(name).name)}, 'w').write('evil')
"""
    assert kernel.targets(code) == [name]
    os.set_blocking(main, False)
    with pytest.raises(BlockingIOError):
        os.read(main, 1)
    for each in (main, other):
        os.close(each)


def test_moved_and_linked_files_are_asked_about(kernel: GuardedKernel) -> None:
    folder = kernel.folder.parent / "moved"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / name).write_text("theirs")
    code = f"""
import os
up = {str(folder)!r}
os.rename(up + '/a', up + '/new'); os.link(up + '/b', up + '/link')
for call in (lambda: os.remove(up + '/new'), lambda: open(up + '/link').read()):
    try: call()
    except PermissionError: print('denied')
"""
    let = [*(Effect("write", str(folder / name)) for name in ("new", "b", "link")), Effect("delete", str(folder / "a"))]

    assert kernel.run(code, *let).stdout.split() == ["denied", "denied"]
    assert [(each.kind, Path(each.target).name) for each in kernel.asked] == [
        ("delete", "new"),
        ("read_private", "link"),
    ]


def test_pipe_in_the_own_folder_waits_for_its_other_end(kernel: GuardedKernel) -> None:
    path = str(kernel.own / "pipe")
    code = f"""
import os, threading
os.mkfifo({path!r})
writer = threading.Thread(target=lambda: open({path!r}, 'w').write('hello')); writer.start()
print(open({path!r}).read()); writer.join(); os.remove({path!r})
"""
    assert kernel.run(code).stdout == "hello\n"
    assert kernel.asked == []


def test_database_that_is_only_read(kernel: GuardedKernel) -> None:
    kernel.run("sqlite3.connect('read.db').execute('create table t(a)')", Effect("write"))
    code = "sqlite3.connect('read.db').execute('select * from t').fetchall()"

    ran = kernel.run(code, Effect("read", "read.db"))

    assert (errors(ran), kernel.asked) == ([], [])
    assert kernel.kinds(code) == ["write"]
    (kernel.folder / "read.db").unlink()


def test_denied_call_has_a_sentence_and_an_ordinary_error(kernel: GuardedKernel) -> None:
    ran = kernel.run("for name in ('x', 'x'):\n try: open(name, 'w')\n except OSError as error: print(error)")

    assert ran.stdout == "[Errno 13] Permission denied: 'x'\n" * 2
    assert Stream("stderr", "Denied, the code writes x: not today\n") in ran.outputs
    assert len(kernel.asked) == 1


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("os.rename('data.csv', 'other.csv')", ["moves data.csv", "writes other.csv"]),
        ("os.remove('data.csv')", ["deletes data.csv"]),
        ("os.kill(1, 10)", ["sends a signal to process 1"]),
        ("os.kill(-1, 18)", ["sends a signal to several processes"]),
    ],
)
def test_question_says_what_the_call_does(kernel: GuardedKernel, code: str, words: list[str]) -> None:
    kernel.run(code)

    assert [effect.words for effect in kernel.asked] == words


def test_stop_and_interrupt_end_a_call_that_waits(kernel: GuardedKernel) -> None:
    stopped = kernel.run("open('x', 'w')", answer=EffectJudged(allowed=False, stop=True))
    asked = asyncio.Event()

    async def never(effect: Effect) -> EffectJudged:
        asked.set()
        return await nobody()

    async def interrupted() -> int:
        running = asyncio.ensure_future(
            kernel.shared.kernel.execute("open('x', 'w')", permissions=replace(kernel.permissions(), allow=never))
        )
        await asyncio.wait_for(asked.wait(), 20)
        await kernel.shared.kernel.interrupt()
        return (await running).exit_code

    assert stopped.finished.exit_code == 130
    assert kernel.shared.do(interrupted()) == 130
    assert kernel.run("print('usable')").stdout == "usable\n"
    assert not (kernel.folder / "x").exists()


def test_a_thousand_calls_wait_at_once(kernel: GuardedKernel) -> None:
    code = """
import threading
def write(number):
    try: open(f'many-{number}', 'w').close(); allowed.append(number)
    except PermissionError: denied.append(number)
allowed, denied = [], []
threads = [threading.Thread(target=write, args=(number,)) for number in range(1000)]
for each in threads: each.start()
for each in threads: each.join()
print(len(allowed), len(denied))
"""

    async def tenth(effect: Effect) -> EffectJudged:
        return EffectJudged(allowed=effect.target.endswith("0"))

    async def run() -> None:
        await kernel.shared.kernel.execute(code, permissions=replace(kernel.permissions(), allow=tenth))

    kernel.shared.do(run())

    made = list(kernel.folder.glob("many-*"))
    assert len(made) == 100
    for each in made:
        each.unlink()


def test_thread_of_an_earlier_block_can_do_nothing_between_blocks(kernel: GuardedKernel) -> None:
    code = """
import threading
def later():
    go.wait()
    try: open('later', 'w')
    except OSError as error: print(error)
go = threading.Event(); thread = threading.Thread(target=later); thread.start()
threading.Timer(0.2, go.set).start()
"""
    kernel.run(code)
    joined = kernel.run("thread.join()", answer=ALLOWED)

    # The thread may reach its call between the blocks or while the second one runs, and then the person is asked.
    assert "Permission denied" in joined.stdout or kernel.asked


def test_path_that_changes_while_it_is_read_passes_no_wall(kernel: GuardedKernel) -> None:
    code = """
import ctypes, threading
libc = ctypes.CDLL(None, use_errno=True)
open('autogen_files/chat/raced', 'w').write('ours')
allowed, forbidden = b'autogen_files/chat/raced\\0', b'../elsewhere.txt\\0\\0\\0\\0\\0'
path, on = ctypes.create_string_buffer(allowed, 32), [True]
def swap():
    while on:
        ctypes.memmove(path, forbidden, len(forbidden)); ctypes.memmove(path, allowed, len(allowed))
thread = threading.Thread(target=swap); thread.start()
read = set()
for _ in range(2000):
    file = libc.open(path, 0)
    if file >= 0:
        read.add(os.read(file, 9)); os.close(file)
on.clear(); thread.join(); print(read)
"""
    ran = kernel.run(code)

    assert (errors(ran), ran.stdout) == ([], "{b'ours'}\n")


@pytest.mark.places
def test_sandbox_is_guarded_as_well(tmp_path: Path) -> None:
    with guarded_kernel(tmp_path, checkpoints=True, provisioner=bubblewrap()) as own:
        (own.folder / "data.csv").write_text("a,b\n1,2\n")
        own.run("kept = 5")
        own.run("import os; os._exit(3)")
        allowed = own.run("open('new', 'w').write(str(kept)); print(open('new').read())", answer=ALLOWED)
        stopped = own.run("open('x', 'w')", answer=EffectJudged(allowed=False, stop=True))
        kinds = {head: head.partition(" | ")[2].split()[0] for head in NATIVE if "/" not in head}
        asked = {head: own.kinds(NATIVE[head], Effect("process")) for head in kinds if kinds[head] != "process"}
        harmless = own.kinds("import pandas as pd; pd.read_csv('data.csv').to_csv('autogen_files/chat/out.csv')")

    assert {head: found[:1] for head, found in asked.items()} == {head: [kinds[head]] for head in asked}
    assert harmless == []
    assert sorted(path.name for path in own.folder.iterdir()) == ["autogen_files", "data.csv", "new"]
    assert allowed.stdout == "5\n"
    assert stopped.finished.exit_code == 130


@pytest.mark.slow
def test_kernel_ends_with_its_supervisor_and_its_checkpoint_wakes_guarded(tmp_path: Path) -> None:
    with guarded_kernel(tmp_path, checkpoints=True) as own:
        own.run("kept = 5")
        crashed = own.run("import os; os._exit(3)")
        kinds = own.kinds("print(kept); open('after', 'w')")
        process = psutil.Process(own.shared.kernel.pid)

        async def kill(effect: Effect) -> EffectJudged:
            process.parent().kill()
            return await nobody()

        async def run() -> str:
            done = await own.shared.kernel.execute("open('k', 'w')", permissions=replace(own.permissions(), allow=kill))
            return done.note

        note = own.shared.do(run())
        new = own.run("print('usable')")

    assert "variables are as they were before the block" in crashed.finished.note
    assert kinds == ["write"]
    assert "variables are lost" in note
    assert not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    assert new.stdout == "usable\n"
    assert not (own.folder / "k").exists()


@pytest.mark.parametrize("code", ["open('{}', 'a')", "os.truncate('{}', 0)", "os.chmod('{}', 0o600)"])
def test_hard_link_in_the_own_folder_is_asked_about_before_it_is_written(kernel: GuardedKernel, code: str) -> None:
    other, link, plain = kernel.folder.parent / "other.txt", kernel.own / "hard", kernel.own / "plain"
    other.write_text("theirs")
    link.hardlink_to(other)
    plain.write_text("ours")
    try:
        assert kernel.kinds(code.format(f"autogen_files/chat/{plain.name}")) == []
        assert kernel.targets(code.format(f"autogen_files/chat/{link.name}")) == [str(link)]
        assert other.read_text() == "theirs"
        assert kernel.kinds("open('autogen_files/chat/hard').read()") == []
    finally:
        for each in (other, link, plain):
            each.unlink()


def test_deletion_of_a_folder_is_one_question(kernel: GuardedKernel) -> None:
    (kernel.folder / "old" / "deep").mkdir(parents=True)
    (kernel.folder / "old" / "deep" / "file").touch()

    assert kernel.kinds("shutil.rmtree('old')", Effect("delete", "old")) == []
    assert not (kernel.folder / "old").exists()


def test_permitted_effect_is_not_asked_about(kernel: GuardedKernel) -> None:
    code = "open('a', 'w').close(); open('b', 'w').close(); os.remove('a'); os.remove('b')"

    assert kernel.targets(code, Effect("write", "a"), Effect("delete"), answer=ALLOWED) == [str(kernel.folder / "b")]
    assert kernel.kinds(code, Effect("write"), Effect("delete")) == []


def test_question_comes_after_what_was_printed_before_it(kernel: GuardedKernel) -> None:
    happened: list[str] = []

    async def allow(effect: Effect) -> EffectJudged:
        happened.append(f"<{Path(effect.target).name}>\n")
        return ALLOWED

    def note(item: Output) -> None:
        happened.extend([item.text] if isinstance(item, Stream) else [])

    code = (
        "for i in range(6):\n print('before', i)\n open(f'o{i}', 'w').close()\n print('after', i)\n os.remove(f'o{i}')"
    )
    permissions = replace(kernel.permissions(Effect("delete")), allow=allow)
    kernel.shared.do(kernel.shared.kernel.execute(code, note, permissions=permissions))

    told = [line for i in range(6) for line in (f"before {i}", f"<o{i}>", f"after {i}")]
    assert "".join(happened).splitlines() == told


@pytest.mark.slow
def test_time_of_the_person_does_not_count(kernel: GuardedKernel) -> None:
    async def allow(_: Effect) -> EffectJudged:
        await asyncio.sleep(1.5)
        return ALLOWED

    slow = replace(kernel.permissions(Effect("delete")), allow=allow)
    code = "open('slow', 'w').close(); os.remove('slow'); print('in time')"

    assert kernel.shared.execute(code, permissions=slow, timeout=1.0).stdout == "in time\n"


STUBBORN = """
import signal, threading, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True:
    try:
        open('x', 'w')
        time.sleep(0.01)
    except BaseException:
        pass
"""


@pytest.mark.slow
def test_what_does_not_yield_to_stop_is_asked_about_once_and_ended_with_a_sentence(tmp_path: Path) -> None:
    with guarded_kernel(tmp_path) as own:
        ran = own.run(STUBBORN, answer=EffectJudged(allowed=False, by="you", stop=True))
        asked = [Path(effect.target).name for effect in own.asked]
        after = own.run("print('usable')")

    assert asked == ["x"]
    assert ran.finished.note.startswith("The block was interrupted and did not stop; the kernel was killed")
    assert after.stdout == "usable\n"


def test_without_permissions_everything_passes(kernel: GuardedKernel) -> None:
    code = "if not os.fork(): open('free', 'w').close(); os._exit(0)\nos.wait(); print(os.path.exists('free'))"

    assert kernel.shared.execute(code).stdout == "True\n"
    assert kernel.kinds("open('free', 'a')") == ["write"]
    kernel.shared.execute("os.remove('free')")


def test_packages_that_are_links_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages, cache = tmp_path / "packages", tmp_path / "cache"
    (cache / "tables-1.dist-info").mkdir(parents=True)
    (cache / "tables-1.dist-info" / "METADATA").touch()
    (packages / "tables-1.dist-info").mkdir(parents=True)
    (packages / "tables-1.dist-info" / "METADATA").symlink_to(cache / "tables-1.dist-info" / "METADATA")
    (packages / "plots").symlink_to(tmp_path / "plots")
    (packages / "all").symlink_to(Path.home())
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(packages))

    read = config([], tmp_path / "work", {})["read"]

    assert {str(cache), str(tmp_path / "plots")} <= set(read)
    assert str(Path.home()) not in read


def test_library_that_ends_the_kernel_after_a_denial_is_told_as_that(tmp_path: Path) -> None:
    with guarded_kernel(tmp_path, checkpoints=True) as own:
        own.run("import os; x = 1")
        ran = own.run("try: open('log', 'w')\nexcept OSError: os.abort()")
        after = own.run("print(x)")

    assert "because a library gave up after a denial (writes log)" in ran.finished.note
    assert after.stdout == "1\n"
