"""What Python code, with IPython's own syntax, is read to do: kinds and targets."""

import sys
from dataclasses import replace

import pytest

from autogen_nb.core.analysis import effects, permissions
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import EffectKind
from autogen_nb.messages import CodeBlock

GROUND = PathScope("/home/ann/work", "/home/ann/work/autogen_files/main", "/home/ann")


def read(code: str, scope: PathScope = GROUND) -> set[tuple[EffectKind, str]]:
    """What is read in Python code: kinds and targets."""
    return {(effect.kind, effect.target) for effect in effects(CodeBlock("python", code), scope)}


CALLS: list[tuple[str, set[tuple[EffectKind, str]]]] = [
    ("df.apply('read_csv')", {("read_private", "")}),
    ("f = pd.DataFrame.to_gbq", {("network", "")}),
    ("import os\n'a' in os.popen('rm x')", {("process", "rm x")}),
    ("'x' in globals()", set()),
    ("for n in range(1, 2, 3, 4):\n    df.to_csv(f'{n}.csv')", {("write", "")}),
    ("for n in range(1000000000000000000000000):\n    df.to_csv(f'{n}.csv')", {("write", "")}),
    ("x.read_pickle('a')", {("unknown", "")}),
    ("p.rename('b.csv')", {("delete", "b.csv"), ("write", "b.csv")}),
    ("p.replace('../b')", {("delete", "../b"), ("write", "../b")}),
    ("s.rename('total')", set()),
    ("s.replace('a', 'b')", set()),
    ("p.rename(other)", set()),
    ("p.unlink()", {("delete", "")}),
    ("p.write_text('x')", {("write", "")}),
    ("cur.execute('SELECT 1')", set()),
    ("cur.execute('DELETE FROM t')", {("write", "")}),
    ("cur.execute(text)", {("unknown", ""), ("write", "")}),
    ("cur.execute()", set()),
    ("pd.read_sql('SELECT 1', 'postgresql://db.example.org/x')", {("network", "db.example.org")}),
    ("pd.read_sql_table('t', conn)", set()),
    ("pd.read_sql('sales', conn)", set()),
    ("df.to_sql('t', 'sqlite:///x.db')", {("write", "x.db")}),
    ("df.to_sql('t', con=engine)", {("write", "")}),
    ("df.to_sql('t', con='postgresql://db.example.org/x')", {("network", "db.example.org")}),
    ("import sqlite3\nc = sqlite3.connect('file:x.db?mode=ro')\nc.execute('DROP TABLE t')", {("read", "x.db")}),
    ("import sqlite3\nsqlite3.connect(path)", {("unknown", "")}),
    ("import duckdb\nduckdb.connect('x.db', read_only=True).execute('INSERT INTO t VALUES (1)')", {("read", "x.db")}),
    ("import duckdb\nduckdb.query('SELECT 1')", set()),
    ("import duckdb\nduckdb.query(\"SELECT * FROM 'a.csv'\")", {("read", "a.csv")}),
    ("import duckdb\nduckdb.sql('INSTALL httpfs')", {("unknown", "")}),
    ("import duckdb\nduckdb.sql('COPY t TO output')", {("write", "")}),
    ("import duckdb\nduckdb.sql(\"COPY t TO 'autogen_files/main/x'\")", {("write_own", "autogen_files/main/x")}),
    ("import duckdb\nduckdb.sql(\"ATTACH ':memory:' AS m -- 'x.csv'\")", set()),
    ("open('a', *how)", {("write", "a")}),
    ("open('a', **how)", {("write", "a")}),
    ("open('a', mode)", {("write", "a")}),
    ("open()", {("read_private", "")}),
    ("open('/dev/null', 'w')", set()),
    ("open('/proc/self/status').read()", set()),
    ("import os\nos.listdir('/proc/self/fd')", set()),
    ("open('/proc/meminfo')", set()),
    ("open('/proc/self/comm', 'w')", {("write", "/proc/self/comm")}),
    ("open('/proc/self/environ')", {("read_private", "/proc/self/environ")}),
    ("open('/proc/self/fd/3')", {("read_private", "/proc/self/fd/3")}),
    ("open('/proc/self/task/../mem')", {("read_private", "/proc/self/task/../mem")}),
    ("open('/proc/1/status')", {("read_private", "/proc/1/status")}),
    ("print(open)", {("unknown", "")}),
    ("import zipfile\nzipfile.ZipFile('a.zip').extract('x', 'out')", {("read", "a.zip"), ("write", "out")}),
    ("import zipfile\nzipfile.ZipFile('a.zip').extractall()", {("read", "a.zip"), ("write", ".")}),
    ("import zipfile\nzipfile.ZipFile('a.zip').namelist()", {("read", "a.zip")}),
    ("import tempfile\ntempfile.mkdtemp(dir='out')", {("write", "out")}),
    ("import tempfile\ntempfile.mkdtemp()", {("write", "/tmp")}),
    ("import tempfile\ntempfile.mkdtemp(prefix='../out')", {("write", "")}),
    ("c = {'a': 'a.csv', 'b': '/x'}\nopen(c['a'])", {("read", "a.csv")}),
    ("c = {'a': 'a.csv', 1: '/x'}\nopen(c[input()])", {("read", "a.csv"), ("read_private", "/x")}),
    ("c = {'a': 'a.csv', **{'a': '/x'}}\nopen(c['a'])", {("read", "a.csv"), ("read_private", "/x")}),
    ("c = {'a': 'a.csv', **other}\nopen(c['a'])", {("read", "a.csv"), ("read_private", "")}),
    ("c = dict(a='a.csv', **{'b': '/x'})\nopen(c['b'])", {("read_private", "/x")}),
    ("c = {'a': 'a.csv'}\nopen(c.get())", {("read", "a.csv")}),
    ("c = {'a': 'a.csv'}\nopen(c.get('b', '/x'))", {("read_private", ""), ("read_private", "/x")}),
    ("c = {'a': 'a.csv'}\nc['a'] += '/../../x'\nopen(c['a'])", {("read", "a.csv"), ("read_private", "")}),
    ("c = {'a': {'b': 'a.csv'}}\nc['a']['b'] = '/x'\nopen(c['a']['b'])", {("read", "a.csv"), ("read_private", "")}),
    ("c['a'] = 'a.csv'\nopen(c['a'])", {("read_private", "")}),
    ("c = ['a.csv']\nc[0] = '/x'\nopen(c[0])", {("read", "a.csv"), ("read_private", "")}),
    ("c = {'a': 'a.csv'}\nc = other\nfor a, b in c.items():\n    open(b)", {("read", "a.csv"), ("read_private", "")}),
    ("get()['a'].append(1)", set()),
    ("import tempfile\nopen(tempfile.mkstemp()[1], 'w')", {("write", "/tmp")}),
    ("import tempfile\ntempfile.TemporaryFile().write(b'x')", set()),
    ("help(x)", {("unknown", "")}),
    ("import io\nio.FileIO('a', 'w')", {("write", "a")}),
    ("a.dump('../a.npy')\nyaml.safe_dump(x)", {("write", "../a.npy")}),
    ("import pyarrow as pa\npa.memory_map('a', 'r+')", {("read", "a"), ("write", "a")}),
    ("import pyarrow as pa\npa.ipc.new_file('a', s).write(t)", {("write", "a")}),
    ("from pyarrow import fs\nfs.copy_files('/a', 'b')", {("read_private", "/a"), ("write", "b")}),
    ("from pyarrow import fs\nfs.LocalFileSystem().move('a', 'b')", {("delete", "a"), ("write", "b")}),
    ("import rasterio\nrasterio.open('a.tif', 'w')", {("write", "a.tif")}),
    ("plt.rcParams['backend'] = 'module://x'", {("unknown", "")}),
    ("import sys\nprint('a' in sys.modules)", set()),
    ("import sys\nprint('a' in sys.modules['b'])", {("environment", "")}),
    ("print(np.__file__, df.__class__.__module__)", set()),
    ("import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute(f'select {x}')", set()),
    ("import duckdb\nc = duckdb.connect()\nc.execute(f'select {x}')", {("unknown", "")}),
    ("help()", {("unknown", "")}),
    ("import tempfile\ntempfile.TemporaryDirectory('', '', 'out')", {("write", "")}),
    ("import tempfile\nd = tempfile.TemporaryDirectory()\nopen(d.name + 'x', 'w')", {("write", "")}),
    ("import tempfile\nd = tempfile.TemporaryDirectory()\nopen(d.name + '/../x', 'w')", {("write", "")}),
    ("open('/tmp/\ue001/x', 'w')", {("write", "")}),
    ("import logging\nlogging.basicConfig(**how)", {("write", "")}),
    ("import logging\nlogging.FileHandler('x.log')", {("write", "x.log")}),
    ("pl.read_csv(['a.csv', '../b.csv'])", {("read", "a.csv"), ("read_private", "../b.csv")}),
    ("df.to_csv(sys.stdout)", set()),
    ("client.fetch('https://api.example.org')", {("network", "api.example.org")}),
    ("load('https://api.example.org/x')", {("network", "api.example.org")}),
    ("import requests\nrequests.get(f'https://api.example.org/{page}')", {("network", "api.example.org")}),
    ("import requests\nrequests.get(f'https://{host}/x')", {("network", "")}),
    ("exec(f'print({x})')", {("unknown", "")}),
    ("import os\nos.system(f'echo {x}')", {("process", "")}),
    ("df.to_sql('t', f'sqlite:///{x}.db')", {("unknown", "")}),
    ("load('https://[::1')", {("network", "")}),
    ("import requests\nrequests.get(url)", {("network", "")}),
    ("import socket\ns = socket.socket()\ns.connect((host, 80))", {("network", "")}),
    ("x.popen('ls')", {("process", "ls")}),
    ("run(x.Popen)", {("process", "")}),
    ("x.download('a')", {("network", "")}),
    ("print(df.to_csv)", {("write", "")}),
    ("print(pd.read_csv)", {("read_private", "")}),
    ("print(pd.DataFrame().to_csv)", {("write", "")}),
    ("print(pd.DataFrame().mean)", set()),
    ("import requests\nprint(requests.get('http://a.example.org').json)", {("network", "a.example.org")}),
    ("import os\nprint(os)", {("unknown", "")}),
    ("import os\nprint(os.name, os.path)", set()),
    ("print(np.save)", {("write", "")}),
    ("import numpy as np\nmap(np.load, xs)", {("read_private", "")}),
    ("import os\nlist(map(os.system, xs))", {("process", "")}),
    ("class A(B):\n    def save(self):\n        self.x.dump()\n    def go(self):\n        self.save()", set()),
    ("class A(B):\n    pass\nA().to_csv('x.csv')", {("write", "x.csv")}),
    ("class A:\n    _x = 1\n    def f(self):\n        return self._x, self.__dict__", {("unknown", "")}),
    ("x.__class__", {("unknown", "")}),
    ("type(x).__name__, x.__class__.__name__", set()),
    ("import yaml\nyaml.safe_load(x)\nyaml.load(x, Loader=yaml.SafeLoader)\nyaml.dump(x)", set()),
    ("import yaml\nyaml.load(x)", {("unknown", "")}),
    ("import yaml\nyaml.dump(x, f)", {("write", "")}),
    ("import timeit\ntimeit.timeit('x = 1', number=3)\ntimeit.timeit(lambda: 1)", set()),
    ("import timeit\ntimeit.timeit('os.remove(\"x\")')", {("delete", "x")}),
    ("import shutil\nshutil.move('a', '../b')", {("delete", "a"), ("write", "../b")}),
    ("import shutil\nshutil.move(src='a', dst='../b')", {("delete", "a"), ("write", "../b")}),
    ("import os\nos.replace('a', name)", {("delete", "a"), ("write", "")}),
    ("from pathlib import Path\nPath('a').rename('/etc/b')", {("delete", "a"), ("write", "/etc/b")}),
    ("x.rename('data/b.csv')", {("delete", "data/b.csv"), ("write", "data/b.csv")}),
    ("x.rename(x.with_suffix('.txt'))", {("delete", ""), ("write", "")}),
    ("import timeit\ntimeit.timeit('x =')", {("unknown", "")}),
    ("exec()", {("unknown", "")}),
    ("exec('exec(\"exec(chr(1))\")')", {("unknown", "")}),
    ("eval('1 + 1')", set()),
    ("getattr(x)", {("unknown", "")}),
    ("getattr(x, 'shape')", set()),
    ("setattr()", {("unknown", "")}),
    ("setattr(x, 'a', 1)", {("unknown", "")}),
    ("import json\nsetattr(json, 'a', 1)", {("environment", "")}),
    ("class A: pass\nsetattr(A(), 'a', 1)", set()),
    ("__import__()", {("unknown", "")}),
    ("__import__('json').dumps(1)", set()),
    ("model.eval()", set()),
    ("df.eval(expr='a + b')", {("unknown", "")}),
    ("df.apply('_x')", {("unknown", "")}),
    ("df.apply('sum', axis=1)", set()),
    ("plt.style.use(['ggplot', 'fast'])", set()),
    ("plt.style.context('ggplot')", set()),
    ("plt.style.use()", {("unknown", "")}),
    ("from os import environ\nprint(environ)", {("environment", "")}),
    ("import os\nos.environ[key]", {("environment", "")}),
    ("import os\nos.environ['A'] = os.environ['B']", {("environment", "A"), ("environment", "B")}),
    ("import os\nos.environ.setdefault('A', 'b')", {("environment", "A")}),
    ("json.dumps = None", {("environment", "")}),
    ("pd.options.display.x = 1\nplt.gca().x = 1\nx.y = 2", set()),
    ("import concurrent.futures, os.path, xml.etree.ElementTree as ET", set()),
    ("import shutil as s", {("unknown", "")}),
    ("import requests as r", {("network", "")}),
    ("import pandas.io.common", {("unknown", "")}),
    ("import webbrowser", set()),
    ("import antigravity", {("unknown", "")}),
    ("from os import remove", {("delete", "")}),
    ("from numpy import load as l", {("read_private", "")}),
    ("from math import *\nfrom . import x", {("unknown", "")}),
    ("from scipy.io import loadmat\nfrom urllib.request import urlopen", set()),
    ("from subprocess import run", {("process", "")}),
    ("from numpy.lib import x", {("unknown", "")}),
    ("from numpy.lib.stride_tricks import sliding_window_view", set()),
    ("np.lib.npyio.x()", {("unknown", "")}),
    ("np.lib.stride_tricks.as_strided(x, (9,))", {("unknown", "")}),
    ("Path('a').link_to('b')", {("read", "a"), ("write", "a"), ("write", "b")}),
    ("Path('a').hardlink_to('b')", {("write", "a"), ("read", "b"), ("write", "b")}),
    ("import os\nos.stat('a', dir_fd=x)", {("unknown", "")}),
    ("with ThreadPoolExecutor() as pool:\n    pool.submit(f)", set()),
    ("with ProcessPoolExecutor() as pool:\n    pool.submit(f)", {("process", "")}),
    ("f.write('x')", {("write", "")}),
    ("from helpers import x", {("unknown", "")}),
    ("import multiprocessing as mp\np = mp.Pool()", {("process", "")}),
    ("import multiprocessing as mp\nmp.get_context('spawn').Pool(2).map(len, ['a'])", {("process", "")}),
    ("import joblib\njoblib.Parallel(n_jobs=2, backend='loky')(jobs)", {("process", "")}),
    ("import requests\ns = requests.Session()", {("network", "")}),
    ("for f in x:\n    f()", set()),
    ("def f():\n    pass\nf.to_csv('a.csv')", {("write", "a.csv")}),
    ("matched = f'{x!r:>{width}}'", set()),
]  # fmt: skip

MAGICS: list[tuple[str, set[tuple[EffectKind, str]]]] = [
    ("%matplotlib notebook\n%matplotlib", set()),
    ("%matplotlib module://x", {("unknown", "")}),
    ("%config Application.x = 1", {("environment", "")}),
    ("%ll data\n%ls", {("read", "data"), ("read", ".")}),
    ("%rm data/x", {("delete", "data/x")}),
    ("%system rm x", {("delete", "x")}),
    ("%pip list", set()),
    ("%pip install a", {("install", "a")}),
    ("%pip install -q --progress-bar=off a -rb.txt", {("install", "a -rb.txt")}),
    ("!python -m pip install -U --index-url=https://x a", {("install", "--index-url=https://x a")}),
    ("import socket\nsocket.socket(socket.AF_UNIX).connect('/run/x')", {("network", "/run/x")}),
    ("import socket\nsocket.socket(socket.AF_UNIX).connect('\\0x')", {("network", "@x")}),
    ("%cd data", {("environment", "")}),
    ("%env", {("environment", "")}),
    ("%save x.py 1-3\n%logstart", {("write", "1-3"), ("write", "")}),
    ("%store x > $name", {("write", "")}),
    ("%unheard of", {("unknown", "")}),
    ("%run x.py", {("unknown", "")}),
    ("%time", set()),
    ("%time df.to_csv('a.csv')", {("write", "a.csv")}),
    ("%timeit -n 1 -r1 df.to_csv('a.csv')", {("write", "a.csv")}),
    ("%%time\ndf.to_csv('a.csv')", {("write", "a.csv")}),
    ("%%timeit -n 3\ndf.to_csv('a.csv')", {("write", "a.csv")}),
    ("%%timeit df.to_csv('a.csv')\nx", {("write", "a.csv")}),
    ("%%capture out\n%%time\n!rm x", {("delete", "x")}),
    ("%%prun -T out.txt\nx = 1", {("write", "out.txt")}),
    ("%%prun\nx = 1", set()),
    ("!", set()),
    ("%%sh\nrm x", {("delete", "x")}),
    ("%%bash x.sh\nls", {("process", "bash x.sh"), ("read", ".")}),
    ("%%sh -s -c 'rm x'\nls", {("process", "sh -s -c 'rm x'"), ("read", ".")}),
    ("%%sx rm x\nls", {("delete", "x"), ("read", ".")}),
    ("%%!\nrm x", {("delete", "x")}),
    ("%%script ruby\nx", {("process", "script ruby")}),
    ("%%python\nx", {("process", "python")}),
    ("%%writefile 'a.py'\nx", {("write", "a.py")}),
    ("%%writefile\nx", {("write", "")}),
    ("%%latex\nx", set()),
    ("%%js\nx", {("unknown", "")}),
    ("\n\n%%time\nx = 1", set()),
    ("  x = 1\n  !ls", {("read", ".")}),
    ("!ls {folder}", {("read_private", "")}),
    ("!echo {os.remove('x')}", {("delete", "x")}),
    ("!echo {a b}", {("unknown", "")}),
    ("!echo {}", set()),
    ("!ls \\\n  data", {("read", "data")}),
    ("x = !rm y\nprint(x)", {("delete", "y")}),
    ("x = %pwd\nprint(x)", set()),
    ("x = [\n  1,\n]\n!ls", {("read", ".")}),
    ("x = '''\n!rm y\n'''\n!ls", {("read", ".")}),
    ("x = 'a\\'b'  # don't\n!ls", {("read", ".")}),
    ("x = 'a)'\n!ls", {("read", ".")}),
    ("df.head?\n?df\ndf??\n%time?", set()),
    ('x = """\n%time """; import os; os.remove(\'x\'); y = """\n"""\n!ls', {("delete", "x"), ("read", ".")}),
    ("x = 1\n!echo '''", {("unknown", "")}),
    ("/f x", {("unknown", "")}),
    (",f x", {("unknown", "")}),
    ("x) = 1\n!ls", {("unknown", "")}),
    ("get_ipython()", {("unknown", "")}),
    ("get_ipython().run_line_magic('matplotlib', 'inline')", set()),
    ("get_ipython().run_line_magic(name, 'inline')", {("unknown", "")}),
    ("get_ipython().run_line_magic()", {("unknown", "")}),
    ("get_ipython().magic('%cd ..')", {("environment", "")}),
    ("get_ipython().run_cell_magic('bash', '', 'rm x')", {("delete", "x")}),
    ("get_ipython().run_cell('!rm x')", {("delete", "x")}),
    ("get_ipython().run_cell('x = 1', store_history=False)", set()),
    ("get_ipython().run_cell_magic('bash', '', cell='rm x')", {("unknown", "")}),
    ("get_ipython().run_line_magic('sx', **more)", {("unknown", "")}),
    ("for f in 'a', '.env':\n    get_ipython().system('cat ' + f)", {("read", "a"), ("read_private", ".env")}),
    ("c = 'ls'\nif x:\n    c = input()\nget_ipython().system(c)", {("read", "."), ("unknown", "")}),
    ("from IPython import get_ipython\nget_ipython().system('rm x')", {("delete", "x"), ("unknown", "")}),
    ("x.system('rm y')", {("process", "rm y")}),
]


@pytest.mark.parametrize(("code", "expected"), CALLS, ids=[repr(code) for code, _ in CALLS])
def test_calls_are_told_by_what_they_are_given(code: str, expected: set[tuple[EffectKind, str]]) -> None:
    assert read(code) == expected


@pytest.mark.parametrize(
    ("code", "shared", "private"),
    [
        ("open(tempfile.mkdtemp() + '/x', 'w')", {("write", "/tmp")}, set()),
        ("f = tempfile.NamedTemporaryFile(delete=False)\nos.remove(f.name)", {("write", "/tmp")}, set()),
        ("n, p = tempfile.mkstemp()\nos.fdopen(n, 'w').write('x')\nos.close(n)", {("write", "/tmp")}, set()),
        ("open(tempfile.gettempdir() + '/x', 'w')", {("write", "/tmp/x")}, set()),
        ("with tempfile.TemporaryDirectory() as d:\n    tempfile.mkdtemp(dir=d)", {("write", "/tmp")}, set()),
        ("tempfile.mkdtemp(dir=tempfile.gettempdir() + '/..')", {("write", "/tmp/..")}, {("write", "")}),
        ("tempfile.mkdtemp(dir='out')", {("write", "out")}, {("write", "out")}),
        (
            "tempfile.mkdtemp(dir='autogen_files/main')",
            {("write_own", "autogen_files/main")},
            {("write_own", "autogen_files/main")},
        ),
        ("tempfile.mkdtemp(dir='out' if x else None)", {("write", "")}, {("write", "")}),
        ("tempfile.mkdtemp(**how)", {("write", "")}, {("write", "")}),
        ("open('/tmp/x', 'w')", {("write", "/tmp/x")}, {("write", "/tmp/x")}),
        ("open(tempfile.gettempprefix(), 'w')", {("write", "")}, {("write", "")}),
        (
            "f = tempfile.NamedTemporaryFile()\nf.name = '/x'\nos.remove(f.name)",
            {("delete", "")},
            {("delete", "")},
        ),
        (
            "d = tempfile.mkdtemp()\nshutil.move('a', d)\nshutil.move(d, '../b')",
            {("write", "/tmp"), ("delete", "a"), ("write", "../b")},
            {("delete", "a"), ("write", "../b")},
        ),
    ],
)
def test_temporary_files_are_nothing_where_their_folder_is_private(
    code: str, shared: set[tuple[EffectKind, str]], private: set[tuple[EffectKind, str]]
) -> None:
    code = f"import os, shutil, tempfile\n{code}"

    assert read(code) == shared
    assert read(code, replace(GROUND, private_temporary=True)) == private


@pytest.mark.parametrize(("code", "expected"), MAGICS, ids=[repr(code) for code, _ in MAGICS])
def test_notebook_syntax_is_read(code: str, expected: set[tuple[EffectKind, str]]) -> None:
    assert read(code) == expected


@pytest.mark.parametrize(
    ("code", "started"),
    [
        ("x = 1", []),
        ("!ls -l data", ["ls -l data"]),
        ("%time x\nfiles = !ls {folder}", ["ls {folder}"]),
        ("%system rm x\n%ll data\n%cat a.csv\n%who", ["rm x", "ls data", "cat a.csv"]),
        ("%%bash\nls", ["bash"]),
        ("%%sh --out text -eu\nls", ["sh"]),
        ("%%bash -euo pipefail -s a b\nls", ["bash"]),
        ("%%bash x.sh\nls", []),
        ("%%time\n!ls", ["ls"]),
        ("%%time\n" * 10 + "!ls", []),
        ("%%html\nx", []),
        ("get_ipython().system('ls')", []),
        ("if x:\n    line = 'cat a.csv'\nget_ipython().getoutput(line)", []),
        ("get_ipython().run_cell_magic('bash', '', 'ls')", []),
        ("get_ipython().run_cell('%time !ls')", []),
        ("!echo {get_ipython().getoutput('ls')}", ["echo {get_ipython().getoutput('ls')}"]),
    ],
)
def test_shell_lines_that_were_let_run_may_start_their_programs(code: str, started: list[str]) -> None:
    let = permissions(CodeBlock("python", code), GROUND).effects

    assert [
        effect.target for effect in let if effect.kind == "process" and effect not in effects(CodeBlock("python", code))
    ] == started


def test_database_that_is_read_may_be_opened() -> None:
    let = permissions(
        CodeBlock("python", "import sqlite3\nsqlite3.connect('shop.db').execute('SELECT 1')"), GROUND
    ).effects

    assert [(effect.kind, effect.target) for effect in let] == [("read", "shop.db"), ("write", "shop.db")]


def test_shell_code_starts_nothing_in_the_kernel() -> None:
    assert permissions(CodeBlock("sh", "ls")).effects == effects(CodeBlock("sh", "ls"))


def test_magics_hide_no_import() -> None:
    read = effects(CodeBlock("python", "%load_ext theirs\nimport helpers"), GROUND)

    assert [effect.words for effect in read] == ["imports helpers, which is not known", "loads the extension theirs"]


def test_code_within_code_ends() -> None:
    assert ("unknown", "") in read("%%time\n" * 10 + "x = 1")


@pytest.mark.parametrize(
    "depth",
    [pytest.param(3_000, marks=pytest.mark.skipif(sys.version_info >= (3, 13), reason="it can be walked")), 30_000],
)
def test_deep_code_is_unknown(depth: int) -> None:
    assert ("unknown", "") in read("x = " + "+".join(["1"] * depth))
