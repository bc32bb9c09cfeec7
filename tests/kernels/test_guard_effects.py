import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from autogen_nb.effects import Effect
from tests.corpus import sections
from tests.kernels.guarded import ALLOWED, GuardedKernel, errors, guarded_kernel

USED = """
import json, os, pathlib, shutil, socket, sqlite3, subprocess, sys, tempfile
number = lambda name: os.open(name, os.O_RDONLY)
database = lambda address: sqlite3.connect(address, uri=True)
bundles = get_ipython().display_formatter.mimebundle_formatter
draw = bundles.lookup_by_type("altair.vegalite.v5.api.TopLevelMixin").args[0]
"""
"""What an earlier block has run."""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedKernel]:
    folder = tmp_path_factory.mktemp("acts")
    (folder / "elsewhere.txt").write_text("theirs")
    (folder / "modules").mkdir()
    (folder / "modules" / "of_theirs.py").write_text("x = 1")
    with guarded_kernel(folder) as made:
        (made.folder / "data.csv").write_text("a,b\n1,2\n")
        (made.folder / ".env").write_text("KEY=1")
        (made.own / "link").symlink_to(folder / "elsewhere.txt")
        (made.own / "x").touch()
        made.run(USED)
        yield made


PROGRAMS = dict(sections(Path(__file__).with_name("guard_effects.txt")))
"""Below ``name | kind target`` a program whose effect is asked about, below ``name | nothing`` one that may run."""


@pytest.mark.parametrize("head", [head for head in PROGRAMS if head.endswith("| nothing")])
def test_harmless(kernel: GuardedKernel, head: str) -> None:
    ran = kernel.run(PROGRAMS[head])

    assert kernel.asked == []
    assert not [error for error in errors(ran) if "denied" in error]


@pytest.mark.parametrize("head", [head for head in PROGRAMS if not head.endswith("| nothing")])
def test_risky(kernel: GuardedKernel, head: str) -> None:
    kind, _, target = head.partition(" | ")[2].partition(" ")

    ran = kernel.run(PROGRAMS[head])

    assert kernel.asked, errors(ran)
    effect = kernel.asked[0][0]
    assert kind in (effect.kind, "any")
    assert target == "any" or effect.target in (target, os.path.normpath(kernel.folder / target))
    assert "denied" in str(errors(ran)) or "denied" in ran.stdout


@pytest.mark.parametrize(
    "code",
    [
        "open('autogen_files/chat/{}', 'w')",
        "open('autogen_files/chat/{}', 'a')",
        "os.truncate('autogen_files/chat/{}', 0)",
        "os.chmod('autogen_files/chat/{}', 0o600)",
        "shutil.copyfile('data.csv', 'autogen_files/chat/{}')",
    ],
)
def test_hard_link_in_the_own_folder_is_asked_about_before_it_is_written(kernel: GuardedKernel, code: str) -> None:
    other, link, plain = kernel.folder.parent / "other.txt", kernel.own / "hard", kernel.own / "plain"
    other.write_text("theirs")
    link.hardlink_to(other)
    plain.write_text("ours")
    try:
        before = other.stat()

        assert kernel.kinds(code.format("plain")) == []
        assert kernel.kinds(code.format("hard")) == ["write"]
        assert kernel.asked[0][0].target == str(link)
        assert (other.read_text(), other.stat().st_mode) == ("theirs", before.st_mode)
        assert kernel.kinds("open('autogen_files/chat/hard').read()") == []
    finally:
        for each in (other, link, plain):
            each.unlink()


def test_words_disguise_nothing(kernel: GuardedKernel) -> None:
    kernel.run("open('a\\u202egnp.exe\\n', 'w')")
    assert [effect.words for effect, _ in kernel.asked] == ["writes a[U+202E]gnp.exe[U+000A]"]

    kernel.run("socket.socket(socket.AF_UNIX).bind('\\0agn')")
    assert [effect.words for effect, _ in kernel.asked] == ["listens at the socket @agn"]


def test_database_that_is_only_read(kernel: GuardedKernel) -> None:
    code = "sqlite3.connect('read.db').execute('select 1')"

    assert kernel.kinds(code, Effect("read", "read.db")) == []
    assert kernel.kinds(code, Effect("read", "other.db")) == ["write"]
    (kernel.folder / "read.db").unlink()


def test_deletion_of_a_folder_is_one_question(kernel: GuardedKernel) -> None:
    (kernel.folder / "old" / "deep").mkdir(parents=True)
    (kernel.folder / "old" / "deep" / "file").touch()

    assert kernel.kinds("shutil.rmtree('old')", answer=ALLOWED) == ["delete"]
    assert not (kernel.folder / "old").exists()


def test_move_deletes_and_writes(kernel: GuardedKernel) -> None:
    code = "open('autogen_files/chat/moving', 'w').close(); os.rename('autogen_files/chat/moving', 'moved')"
    back = "os.rename('moved', 'again'); os.remove('again')"

    assert kernel.kinds(code, Effect("delete"), answer=ALLOWED) == ["write"]
    assert kernel.kinds(back, Effect("delete", "moved")) == ["write"]
    assert kernel.kinds(back, Effect("write", "again")) == ["delete"]
    assert kernel.kinds(back, Effect("delete"), Effect("write", "again")) == []
    assert not (kernel.folder / "again").exists()


def test_name_that_was_let_through_stands_for_its_addresses(kernel: GuardedKernel) -> None:
    kernel.run("server = socket.create_server(('127.0.0.1', 0))", answer=ALLOWED)
    code = """
socket.create_connection(('localhost', server.getsockname()[1])).close()
try: socket.create_connection(('127.0.0.2', 9), 1)
except OSError: pass
"""

    assert kernel.targets(code, Effect("network", "localhost")) == ["127.0.0.2"]
    assert kernel.targets(code, answer=ALLOWED) == ["localhost", "127.0.0.2"]
