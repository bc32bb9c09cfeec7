import asyncio
import errno
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from autogen_nb.core.policy.rules import Rule
from autogen_nb.errors import ConfigError, TransferError
from autogen_nb.executors.block_executor import BlockExecutor
from autogen_nb.human.rule_based_approver import RulesFile
from autogen_nb.kernels.places.bubblewrap import BubblewrapProvisioner, _refusal
from autogen_nb.kernels.places.writable import Writable
from autogen_nb.messages import CodeBlock
from autogen_nb.outputs import Stream
from tests.contract.ways import Agent, kernel
from tests.kernels.looping import all_of, bubblewrap

KEY = "planted-key-4711"
SEARCH = """
import os, pathlib
found = [name for name, value in os.environ.items() if KEY in value]
for root in ROOTS:
    for folder, _, files in os.walk(root):
        for path in (pathlib.Path(folder, name) for name in files):
            try:
                data = path.read_bytes()[:100_000] if path.is_file() else b""
            except OSError:
                continue
            if KEY.encode() in data:
                found.append(str(path))
print(found)
"""


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    with kernel(tmp_path_factory.mktemp("work").resolve(), provisioner=bubblewrap()) as found:
        yield found


@pytest.mark.slow
def test_a_key_is_found_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = bubblewrap()
    home = Path.home()
    (home / ".config").mkdir(exist_ok=True)
    (home / ".config" / "key.txt").write_text(KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    inside = f"KEY = {KEY[:8]!r} + {KEY[8:]!r}\nROOTS = [{str(home)!r}, '/home', '/root', '/tmp', '/run', '/proc']\n"

    try:
        with kernel(tmp_path, provisioner=sandbox) as agent:
            text = agent.python(inside + SEARCH).text
            shell = agent.run(("sh", f"cat /proc/*/environ {home}/.config/* 2>/dev/null; env")).text
            parents = agent.python("import os\nprint(sorted(map(int, filter(str.isdigit, os.listdir('/proc')))))").text
    finally:
        (home / ".config" / "key.txt").unlink()

    assert text == "[]\n"
    assert KEY not in shell
    assert str(os.getpid()) not in parents


def test_the_persons_rules_are_out_of_reach(agent: Agent) -> None:
    rules = RulesFile()
    rules.add(Rule("network", "api.example.org"))
    try:
        path = str(rules.path)
        agent.python(
            "import os\n"
            f"os.makedirs({str(rules.path.parent)!r}, exist_ok=True)\n"
            f"open({path!r}, 'w').write('{{\"version\": 1, \"rules\": []}}')"
        )
        agent.run(("sh", f"rm -f {path}; echo x > {path}"))
        seen = agent.python(f"print(open({path!r}).read())").text
        kept = rules.rules()
    finally:
        shutil.rmtree(rules.path.parent)

    assert "api.example.org" not in seen
    assert kept == (Rule("network", "api.example.org"),)


@pytest.mark.slow
def test_the_network_is_refused(agent: Agent) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), timeout=5)"
        python, shell = agent.python(code), agent.run(("bash", f"exec 3<>/dev/tcp/127.0.0.1/{port}"))

    assert "ConnectionRefusedError" in python.text
    assert shell.exit_code != 0


def test_a_message_interrupts_what_the_kernel_waits_for(agent: Agent) -> None:
    agent.python("kept = 1")
    ran = agent.interrupted("python", "print('on', flush=True)\n!sleep 99")

    assert ran.text.startswith("on\n")
    assert agent.python("kept").text == "1\n"


def test_a_system_that_refuses_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shell = shutil.which("sh")
    program = tmp_path / "bwrap"
    program.write_text(f"#!{shell}\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    _refusal.cache_clear()

    with pytest.raises(ConfigError, match=r"No permissions to create a new namespace\); choose another sandbox"):
        BubblewrapProvisioner()


PLANTING = """
import glob, os, threading
from ipykernel import get_connection_file
given = os.path.dirname(get_connection_file())
answers = os.path.dirname(os.environ["IPYTHONDIR"])
refused = set()
def plant():
    while not os.path.exists("enough"):
        for link in (f"{given}/block", *(f"{each}/0.json" for each in glob.glob(f"{given}/hand-*"))):
            try:
                os.path.lexists(link) and os.remove(link)
                os.symlink(VICTIM, link)
            except OSError as error:
                refused.add((os.path.basename(link), error.errno))
        for each in glob.glob(f"{answers}/hand-*[0-9a-f]"):
            try:
                os.rename(each, f"{each}-away")
                os.symlink(FOLDER, each)
            except OSError:
                pass
thread = threading.Thread(target=plant)
thread.start()
"""


@pytest.mark.slow
def test_files_written_for_the_kernel_cannot_become_links(tmp_path: Path) -> None:
    sandbox = bubblewrap()
    work, outside = tmp_path / "work", tmp_path / "outside"
    for folder in (work, outside):
        folder.mkdir()
    victim = outside / "0.json"
    victim.write_text("the person's")
    (outside / "manifest.json").write_text('"of the person"')
    planting = f"VICTIM, FOLDER = {str(victim)!r}, {str(outside)!r}\n{PLANTING}"

    async def main() -> str:
        executor = BlockExecutor(cwd=work, provisioner=sandbox)
        try:
            await all_of(executor.run([CodeBlock("python", planting)]))
            for number in range(5):
                await executor.put({"value": number})
                with suppress(TransferError):
                    assert await executor.get("value") == number
            (work / "enough").touch()
            said = await all_of(executor.run([CodeBlock("python", "thread.join(); print(sorted(refused))")]))
        finally:
            (work / "enough").touch()
            await executor.stop()
        return "".join(output.text for output in said if isinstance(output, Stream))

    said = asyncio.run(main())

    assert f"('block', {errno.EROFS})" in said
    assert victim.read_text() == "the person's"
    assert sorted(path.name for path in outside.iterdir()) == ["0.json", "manifest.json"]


WRITING = """
import os
for step in (
    lambda: open("seaborn.py", "w"),
    lambda: open(".git/hooks/post-commit", "w"),
    lambda: open("autogen_files/other/x", "w"),
    lambda: os.rename("autogen_files", "away"),
    lambda: os.rename("autogen_files/main", "autogen_files/away"),
    lambda: open("autogen_files/main/x", "w"),
):
    try:
        step()
    except OSError as error:
        print(error.errno, end=" ")
    else:
        print("done", end=" ")
"""


@pytest.mark.slow
@pytest.mark.parametrize("everywhere", [False, True])
def test_sandboxed_code_writes_next_to_the_notebook(tmp_path: Path, everywhere: bool) -> None:
    sandbox = bubblewrap(Writable(lambda: "autogen_files/main", lambda: everywhere))
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / "autogen_files" / "other").mkdir(parents=True)
    with kernel(tmp_path, provisioner=sandbox) as agent:
        text = agent.python(WRITING).text
        shell = agent.run(("sh", "echo x > beside.txt; echo x > autogen_files/main/own.txt")).text
        refused = agent.python("open('.git/x', 'w')")
        agent.python("# filename: pandas.py\nkept = 1")

    ro, busy = errno.EROFS, errno.EBUSY
    assert [int(word) if word.isdigit() else word for word in text.split()] == (
        ["done", ro, "done", busy, busy, "done"] if everywhere else [ro, ro, ro, ro, ro, "done"]
    )
    assert ("Read-only file system" in shell) is not everywhere
    assert ("`%autogen rules add write ./`" in refused.note) is not everywhere
    own = "" if everywhere else "autogen_files/main/"
    assert (tmp_path / f"{own}pandas.py").is_file()
    assert (tmp_path / "autogen_files" / "main" / "own.txt").is_file()
    assert not (tmp_path / ".git" / "x").exists()
