import os
from collections.abc import Iterator

import pytest

from autogen_nb.effects import Effect
from tests.kernels.guarded import ALLOWED, GuardedKernel, errors, guarded_kernel

pytestmark = pytest.mark.kernel


USED = """
import json, os, pathlib, shutil, socket, sqlite3, subprocess, sys, tempfile
number = lambda name: os.open(name, os.O_RDONLY)
database = lambda address: sqlite3.connect(address, uri=True)
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


HARMLESS = {
    "computing": "import math, re, statistics; print(math.pi, re.compile('a'), json.dumps({}))",
    "numpy and pandas": "import numpy as np, pandas as pd; print(pd.read_csv('data.csv').describe())",
    "first plot": "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.title('t'); plt.show()",
    "frame's plot": "import pandas as pd; pd.DataFrame({'a': [1, 2]}).plot(); None",
    "figure into the own folder": "import pylab as p; p.plot([1]); p.savefig('autogen_files/chat/a.png'); p.close()",
    "own file, written twice": "for i in (1, 2): open('autogen_files/chat/x', 'w').write('1')",
    "own folder, made": "os.makedirs('autogen_files/chat/a/b', exist_ok=True)",
    "own file, by its own name": "os.replace('autogen_files/chat/x', 'autogen_files/chat/y')",
    "own database": "sqlite3.connect('autogen_files/chat/a.db').execute('create table t(a)')",
    "database in memory, by an address": "sqlite3.connect('file:x?mode=memory&cache=shared', uri=True)",
    "database that is read, by an address": "sqlite3.connect('file:data.csv?mode=ro', uri=True)",
    "own database by a path": "sqlite3.connect(pathlib.Path('autogen_files') / 'chat' / 'b.db').close()",
    "temporary folder by a path": "p = pathlib.Path(tempfile.mkdtemp()); (p / 'x').touch(); shutil.rmtree(p)",
    "database in memory": "sqlite3.connect(':memory:').execute('create table t(a)')",
    "reading below the folder": "open('data.csv').read(); pathlib.Path('data.csv').read_bytes()",
    "looking around": "import glob; os.listdir('.'); glob.glob('*'); os.path.exists('/etc/shadow')",
    "device without a memory": "open('/dev/null', 'w').write('x'); open('/dev/urandom', 'rb').read(1)",
    "errors, by their device": "open('/dev/stderr', 'w').write('x')",
    "temporary file": "with tempfile.NamedTemporaryFile('w') as f: f.write('x')",
    "temporary folder": "with tempfile.TemporaryDirectory() as d: open(d + '/x', 'w').write('x')",
    "numbers of files without a name": "os.ftruncate(os.memfd_create('x'), 9)",
    "another name in the own folder": "os.link('autogen_files/chat/x', 'autogen_files/chat/x2')",
    "what the machine is": "import platform, multiprocessing; platform.platform(); multiprocessing.cpu_count()",
    "processor and memory": "open('/proc/meminfo').read(); open('/proc/self/status').read()",
    "time zones": "import zoneinfo, datetime; datetime.datetime.now(zoneinfo.ZoneInfo('Europe/Berlin'))",
    "traceback": "import traceback\ntry: 1 / 0\nexcept ZeroDivisionError: print(traceback.format_exc())",
    "failing": "undefined_name",
    "tasks": "import asyncio; await asyncio.gather(*(asyncio.sleep(0) for _ in range(3)))",
    "threads": "import threading; t = threading.Thread(target=print); t.start(); t.join()",
    "magics": "%matplotlib inline\n%time 1 + 1\n%who",
    "import of a module in C": "import _ctypes, _ssl, readline, numpy.linalg",
    "documentation": "help(len)\nimport inspect; print(len(inspect.getsource(json)))",
    "modules of the person's own": "sys.path.append('../modules'); import of_theirs; of_theirs.x",
    "certificates": "import ssl; ssl.create_default_context()",
    "clusters": "from sklearn.cluster import KMeans; KMeans(n_clusters=2).fit([[0, 1], [1, 0], [5, 5], [6, 5]])",
    "frames between": "import pandas as pd; pd.DataFrame({'a': range(9)}).rename(columns={'a': 'b'}).query('b > 2')",
}

RISKY = {
    "open": ("open('out', 'w')", "write", "out"),
    "appending": ("open('data.csv', 'a')", "write", "data.csv"),
    "reading and writing": ("open('data.csv', 'r+')", "write", "data.csv"),
    "os.open": ("os.open('out', os.O_CREAT | os.O_WRONLY)", "write", "out"),
    "pathlib": ("pathlib.Path('out').write_text('x')", "write", "out"),
    "touch": ("pathlib.Path('out').touch()", "write", "out"),
    "folder": ("os.mkdir('new')", "write", "new"),
    "numpy": ("import numpy as np; np.save('out.npy', np.zeros(1))", "write", "out.npy"),
    "pandas": ("import pandas as pd; pd.DataFrame().to_csv('out.csv')", "write", "out.csv"),
    "pickle": ("import pickle; pickle.dump(1, open('out', 'wb'))", "write", "out"),
    "figure": ("import matplotlib.pyplot as plt; plt.plot([1]); plt.savefig('out.png')", "write", "out.png"),
    "copy": ("shutil.copy('data.csv', 'out.csv')", "write", "out.csv"),
    "database": ("sqlite3.connect('out.db')", "write", "out.db"),
    "database, by an address": (
        "database('file:autogen_files/chat/%2e%2e/%2e%2e/data.csv?mode=rw')",
        "write",
        "data.csv",
    ),
    "database, by an address with a mark": ("database('file:autogen_files/chat/link#x')", "write", "../elsewhere.txt"),
    "database, by an address with other words": (
        "database('file:data.csv?mode=memory&mode=rw&x=mode=ro#mode=memory')",
        "write",
        "data.csv",
    ),
    "mode": ("os.chmod('data.csv', 0o600)", "write", "data.csv"),
    "link": ("os.symlink('data.csv', 'out')", "write", "out"),
    "link in another folder": ("os.symlink('x', 'out', dir_fd=number('autogen_files'))", "write", "autogen_files/out"),
    "another name for a table": ("os.link('data.csv', 'autogen_files/chat/d')", "write", "data.csv"),
    "another name for a key": ("pathlib.Path('autogen_files/chat/k').hardlink_to('.env')", "read_private", ".env"),
    "another name by the number of a folder": (
        "os.link('.env', 'autogen_files/chat/k', src_dir_fd=number('.'))",
        "read_private",
        ".env",
    ),
    "mode by a number": ("os.fchmod(number('data.csv'), 0o600)", "write", "data.csv"),
    "owner by a number": ("os.fchown(number('data.csv'), -1, -1)", "write", "data.csv"),
    "through a link of the own folder": ("open('autogen_files/chat/link', 'w')", "write", "../elsewhere.txt"),
    "out of the own folder": ("open('autogen_files/chat/../../out', 'w')", "write", "out"),
    "remove": ("os.remove('data.csv')", "delete", "data.csv"),
    "remove by the number of a folder": ("os.remove(f'/dev/fd/{number(\".\")}/data.csv')", "delete", "data.csv"),
    "write by the number of a folder": ("open(f'/dev/fd/{number(\".\")}/data.csv', 'a')", "write", "data.csv"),
    "write by the number of a file that is read": ("open(f'/dev/fd/{number(\"data.csv\")}', 'w')", "write", "data.csv"),
    "remove in the own folder": ("os.remove('autogen_files/chat/link')", "delete", "autogen_files/chat/link"),
    "database by a path": ("sqlite3.connect(pathlib.Path('autogen_files', '..', 'out.db'))", "write", "out.db"),
    "database by a path that was asked": (
        "p = pathlib.Path('../out.db'); str(p); sqlite3.connect(p)",
        "write",
        "../out.db",
    ),
    "database by an object": ("sqlite3.connect(type('P', (), {'__fspath__': lambda self: 'out.db'})())", "write", ""),
    "rmtree by a path": ("shutil.rmtree(pathlib.Path('autogen_files'))", "delete", "autogen_files"),
    "rmtree by a whole path": ("shutil.rmtree(pathlib.Path.cwd() / 'autogen_files')", "delete", "autogen_files"),
    "rmtree": ("shutil.rmtree('autogen_files')", "delete", "autogen_files"),
    "rename": ("os.rename('data.csv', 'out.csv')", "delete", "data.csv"),
    "rename out of the own folder": (
        "os.rename('autogen_files/chat/link', 'out')",
        "delete",
        "autogen_files/chat/link",
    ),
    "reading a hidden file": ("open('.env').read()", "read_private", ".env"),
    "reading elsewhere": ("open('../elsewhere.txt').read()", "read_private", "../elsewhere.txt"),
    "reading through a link": ("open('autogen_files/chat/link').read()", "read_private", "../elsewhere.txt"),
    "reading the person's list": ("open('/etc/passwd').read()", "read_private", "/etc/passwd"),
    "by way of the interpreter's folder": (
        "import sysconfig; open(sysconfig.get_path('stdlib') + '/../../../../../../../../etc/passwd')",
        "read_private",
        "/etc/passwd",
    ),
    "listing a folder elsewhere": ("os.listdir('..')", "read_private", ".."),
    "own environment": ("open('/proc/self/environ').read()", "read_private", None),
    "name": ("socket.getaddrinfo('api.example.org', 443)", "network", "api.example.org"),
    "address": ("socket.create_connection(('192.0.2.7', 80), 1)", "network", "192.0.2.7"),
    "loopback": ("socket.create_connection(('127.0.0.1', 9), 1)", "network", "127.0.0.1"),
    "urllib": ("import urllib.request; urllib.request.urlopen('http://example.org')", None, "example.org"),
    "datagram": ("s = socket.socket(type=socket.SOCK_DGRAM); s.sendto(b'x', ('192.0.2.8', 9))", "network", "192.0.2.8"),
    "listening": ("socket.socket().bind(('127.0.0.1', 0))", "network", "127.0.0.1"),
    "subprocess": ("subprocess.run(['make', '-n'])", "process", "make -n"),
    "shell": ("subprocess.run('ls | tee x', shell=True)", "process", "ls | tee x"),
    "os.system": ("os.system('touch x')", "process", "touch x"),
    "exclamation mark": ("!rm -r autogen_files", "process", "rm -r autogen_files"),
    "fork": ("os.fork()", "process", ""),
    "pool": ("import multiprocessing; multiprocessing.Pool(1)", "process", ""),
    "kill": ("os.kill(1, 0)", "process", "kill 1"),
    "pip": ("%pip install nothing-of-this-name", "install", "nothing-of-this-name"),
    "packages of a file": ("subprocess.run(['pip', 'install', '-rx.txt', 'x-y'])", "install", "-rx.txt x-y"),
    "socket without a file": ("socket.socket(socket.AF_UNIX).connect('\\0agn-none')", "network", "@agn-none"),
    "pip behind another program": (
        "os.system('true;/usr/bin/pip install x')",
        "process",
        "true;/usr/bin/pip install x",
    ),
    "pip before another program": ("os.system('pip install x;true')", "process", "pip install x;true"),
    "pip with a redirection": ("os.system('pip install x>out')", "process", "pip install x>out"),
    "pip by subprocess": ("subprocess.run(['pip', 'install', '-q', 'x-y'])", "install", "x-y"),
    "environment": ("os.environ['SOME_NAME'] = '1'", "environment", "SOME_NAME"),
    "environment by a magic": ("%env SOME_NAME=2", "environment", "SOME_NAME"),
    "ctypes": ("import ctypes; ctypes.CDLL(None)", "unknown", ""),
    "interpreters": ("import concurrent.interpreters", "unknown", "concurrent.interpreters"),
    "interpreters by their module in C": ("import _xxsubinterpreters", "unknown", "_xxsubinterpreters"),
    "interpreters by a detour": (
        "import importlib; importlib.import_module('_' + 'xxsub' * (sys.version_info < (3, 13)) + 'interpreters')",
        "unknown",
        None,
    ),
    "objects": ("import gc; gc.get_objects()", "environment", ""),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless(kernel: GuardedKernel, name: str) -> None:
    ran = kernel.run(HARMLESS[name])

    assert kernel.asked == []
    assert not [error for error in errors(ran) if "denied" in error]


@pytest.mark.parametrize("name", RISKY)
def test_risky(kernel: GuardedKernel, name: str) -> None:
    code, kind, target = RISKY[name]

    ran = kernel.run(code)

    assert kernel.asked, errors(ran)
    effect = kernel.asked[0][0]
    assert kind in (effect.kind, None)
    assert target is None or effect.target in (target, os.path.normpath(kernel.folder / target))
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
