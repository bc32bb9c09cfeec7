from dataclasses import replace

import pytest

from autogen_nb.core.analysis import effects, permissions
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import EffectKind
from autogen_nb.messages import CodeBlock

GROUND = PathScope("/home/ann/work", "/home/ann/work/autogen_files/main", "/home/ann")


def read(code: str, scope: PathScope = GROUND) -> set[tuple[EffectKind, str]]:
    return {(effect.kind, effect.target) for effect in effects(CodeBlock("python", code), scope)}


CALLS: list[tuple[str, set[tuple[EffectKind, str]]]] = [
    ("df.apply('read_csv')", {("read_private", "")}),
    ("f = pd.DataFrame.to_gbq", {("network", "")}),
    ("import os\n'a' in os.popen('rm x')", {("process", "rm x")}),
    ("'x' in globals()", set()),
    ("for n in range(1, 2, 3, 4):\n    df.to_csv(f'{n}.csv')", {("write", "")}),
    ("x.read_pickle('a')", {("unknown", "")}),
    ("p.rename('b.csv')", {("delete", "b.csv"), ("write", "b.csv")}),
    ("s.rename('total')", set()),
    ("s.replace('a', 'b')", set()),
    ("p.rename(other)", set()),
    ("p.write_text('x')", {("write", "")}),
    ("cur.execute('DELETE FROM t')", {("write", "")}),
    ("cur.execute(text)", {("unknown", ""), ("write", "")}),
    ("cur.execute()", set()),
    ("pd.read_sql('SELECT 1', 'postgresql://db.example.org/x')", {("network", "db.example.org")}),
    ("pd.read_sql_table('t', conn)", set()),
    ("pd.read_sql('sales', conn)", set()),
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
    ("import os\nos.listdir('/proc/self/fd')", set()),
    ("open('/proc/meminfo')", set()),
    ("open('/proc/self/status').read()", set()),
    ("open('/proc/self/comm', 'w')", {("write", "/proc/self/comm")}),
    ("open('/proc/self/environ')", {("read_private", "/proc/self/environ")}),
    ("open('/proc/self/fd/3')", {("read_private", "/proc/self/fd/3")}),
    ("open('/proc/self/task/../mem')", {("read_private", "/proc/self/task/../mem")}),
    ("open('/proc/1/status')", {("read_private", "/proc/1/status")}),
    ("import tempfile\ntempfile.mkdtemp()", {("write", "/tmp")}),
    ("import io\nio.FileIO('a', 'w')", {("write", "a")}),
    ("import pyarrow as pa\npa.memory_map('a', 'r+')", {("read", "a"), ("write", "a")}),
    ("import pyarrow as pa\npa.ipc.new_file('a', s).write(t)", {("write", "a")}),
    ("from pyarrow import fs\nfs.copy_files('/a', 'b')", {("read_private", "/a"), ("write", "b")}),
    ("from pyarrow import fs\nfs.LocalFileSystem().move('a', 'b')", {("delete", "a"), ("write", "b")}),
    ("import rasterio\nrasterio.open('a.tif', 'w')", {("write", "a.tif")}),
    ("import logging\nlogging.FileHandler('x.log')", {("write", "x.log")}),
    ("client.fetch('https://api.example.org')", {("network", "api.example.org")}),
    ("import webbrowser", set()),
    ("from numpy.lib.stride_tricks import sliding_window_view", set()),
    ("with ThreadPoolExecutor() as pool:\n    pool.submit(f)", set()),
    ("with ProcessPoolExecutor() as pool:\n    pool.submit(f)", {("process", "")}),
    ("import multiprocessing as mp\np = mp.Pool()", {("process", "")}),
    ("import requests\ns = requests.Session()", {("network", "")}),
    ("import shutil\nshutil.move(src='a', dst='../b')", {("delete", "a"), ("write", "../b")}),
    ("print(open)", {("unknown", "")}),
    ("import zipfile\nzipfile.ZipFile('a.zip').extract('x', 'out')", {("read", "a.zip"), ("write", "out")}),
    ("import zipfile\nzipfile.ZipFile('a.zip').extractall()", {("read", "a.zip"), ("write", ".")}),
    ("import tempfile\ntempfile.mkdtemp(prefix='../out')", {("write", "")}),
    ("c = {'a': 'a.csv', **{'a': '/x'}}\nopen(c['a'])", {("read", "a.csv"), ("read_private", "/x")}),
    ("c = {'a': 'a.csv', **other}\nopen(c['a'])", {("read", "a.csv"), ("read_private", "")}),
    ("c = dict(a='a.csv', **{'b': '/x'})\nopen(c['b'])", {("read_private", "/x")}),
    ("c = {'a': 'a.csv'}\nopen(c.get())", {("read", "a.csv")}),
    ("c = {'a': 'a.csv'}\nopen(c.get('b', '/x'))", {("read_private", ""), ("read_private", "/x")}),
    ("c = {'a': 'a.csv'}\nc['a'] += '/../../x'\nopen(c['a'])", {("read", "a.csv"), ("read_private", "")}),
    ("c = {'a': {'b': 'a.csv'}}\nc['a']['b'] = '/x'\nopen(c['a']['b'])", {("read", "a.csv"), ("read_private", "")}),
    ("c = ['a.csv']\nc[0] = '/x'\nopen(c[0])", {("read", "a.csv"), ("read_private", "")}),
    ("c = {'a': 'a.csv'}\nc = other\nfor a, b in c.items():\n    open(b)", {("read", "a.csv"), ("read_private", "")}),
    ("get()['a'].append(1)", set()),
    ("help(x)", {("unknown", "")}),
    ("a.dump('../a.npy')\nyaml.safe_dump(x)", {("write", "../a.npy")}),
    ("plt.rcParams['backend'] = 'module://x'", {("unknown", "")}),
    ("import sys\nprint('a' in sys.modules)", set()),
    ("import sys\nprint('a' in sys.modules['b'])", {("environment", "")}),
    ("import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute(f'select {x}')", set()),
    ("import duckdb\nc = duckdb.connect()\nc.execute(f'select {x}')", {("unknown", "")}),
    ("help()", {("unknown", "")}),
    ("import tempfile\ntempfile.TemporaryDirectory('', '', 'out')", {("write", "")}),
    ("import tempfile\nd = tempfile.TemporaryDirectory()\nopen(d.name + 'x', 'w')", {("write", "")}),
    ("import tempfile\nd = tempfile.TemporaryDirectory()\nopen(d.name + '/../x', 'w')", {("write", "")}),
    ("open('/tmp/\ue001/x', 'w')", {("write", "")}),
    ("import logging\nlogging.basicConfig(**how)", {("write", "")}),
    ("load('https://api.example.org/x')", {("network", "api.example.org")}),
    ("import requests\nrequests.get(f'https://{host}/x')", {("network", "")}),
    ("exec(f'print({x})')", {("unknown", "")}),
    ("import os\nos.system(f'echo {x}')", {("process", "")}),
    ("df.to_sql('t', f'sqlite:///{x}.db')", {("unknown", "")}),
    ("load('https://[::1')", {("network", "")}),
    ("import socket\ns = socket.socket()\ns.connect((host, 80))", {("network", "")}),
    ("x.popen('ls')", {("process", "ls")}),
    ("run(x.Popen)", {("process", "")}),
    ("x.download('a')", {("network", "")}),
    ("print(df.to_csv)", {("write", "")}),
    ("print(pd.read_csv)", {("read_private", "")}),
    ("print(pd.DataFrame().to_csv)", {("write", "")}),
    ("import requests\nprint(requests.get('http://a.example.org').json)", {("network", "a.example.org")}),
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
    ("x.rename('data/b.csv')", {("delete", "data/b.csv"), ("write", "data/b.csv")}),
    ("x.rename(x.with_suffix('.txt'))", {("delete", ""), ("write", "")}),
    ("import timeit\ntimeit.timeit('x =')", {("unknown", "")}),
    ("exec('exec(\"exec(chr(1))\")')", {("unknown", "")}),
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
    ("import os\nos.environ['A'] = os.environ['B']", {("environment", "A"), ("environment", "B")}),
    ("import os\nos.environ.setdefault('A', 'b')", {("environment", "A")}),
    ("json.dumps = None", {("environment", "")}),
    ("pd.options.display.x = 1\nplt.gca().x = 1\nx.y = 2", set()),
    ("import concurrent.futures, os.path, xml.etree.ElementTree as ET", set()),
    ("import shutil as s", {("unknown", "")}),
    ("import requests as r", {("network", "")}),
    ("import pandas.io.common", {("unknown", "")}),
    ("import antigravity", {("unknown", "")}),
    ("from os import remove", {("delete", "")}),
    ("from numpy import load as l", {("read_private", "")}),
    ("from math import *\nfrom . import x", {("unknown", "")}),
    ("from scipy.io import loadmat\nfrom urllib.request import urlopen", set()),
    ("from subprocess import run", {("process", "")}),
    ("from numpy.lib import x", {("unknown", "")}),
    ("np.lib.npyio.x()", {("unknown", "")}),
    ("np.lib.stride_tricks.as_strided(x, (9,))", {("unknown", "")}),
    ("Path('a').link_to('b')", {("read", "a"), ("write", "a"), ("write", "b")}),
    ("Path('a').hardlink_to('b')", {("write", "a"), ("read", "b"), ("write", "b")}),
    ("import os\nos.stat('a', dir_fd=x)", {("unknown", "")}),
    ("f.write('x')", {("write", "")}),
    ("from helpers import x", {("unknown", "")}),
    ("import multiprocessing as mp\nmp.get_context('spawn').Pool(2).map(len, ['a'])", {("process", "")}),
    ("import joblib\njoblib.Parallel(n_jobs=2, backend='loky')(jobs)", {("process", "")}),
]  # fmt: skip

MAGICS: list[tuple[str, set[tuple[EffectKind, str]]]] = [
    ("%matplotlib notebook\n%matplotlib", set()),
    ("%matplotlib module://x", {("unknown", "")}),
    ("%config Application.x = 1", {("environment", "")}),
    ("%ll data\n%ls", {("read", "data"), ("read", ".")}),
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
    ("%%timeit -n 3\ndf.to_csv('a.csv')", {("write", "a.csv")}),
    ("%%timeit df.to_csv('a.csv')\nx", {("write", "a.csv")}),
    ("%%prun -T out.txt\nx = 1", {("write", "out.txt")}),
    ("%%prun\nx = 1", set()),
    ("!", set()),
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
    ("!echo {os.remove('x')}", {("delete", "x")}),
    ("!echo {a b}", {("unknown", "")}),
    ("!echo {}", set()),
    ("!ls \\\n  data", {("read", "data")}),
    ("x = !rm y\nprint(x)", {("delete", "y")}),
    ("x = %pwd\nprint(x)", set()),
    ("x = [\n  1,\n]\n!ls", {("read", ".")}),
    ("x = '''\n!rm y\n'''\n!ls", {("read", ".")}),
    ("x = 'a\\'b'  # don't\n!ls", {("read", ".")}),
    ("df.head?\n?df\ndf??\n%time?", set()),
    ('x = """\n%time """; import os; os.remove(\'x\'); y = """\n"""\n!ls', {("delete", "x"), ("read", ".")}),
    ("x = 1\n!echo '''", {("unknown", "")}),
    ("/f x", {("unknown", "")}),
    (",f x", {("unknown", "")}),
    ("x) = 1\n!ls", {("unknown", "")}),
    ("get_ipython()", {("unknown", "")}),
    ("get_ipython().run_line_magic('matplotlib', 'inline')", set()),
    ("get_ipython().magic('%cd ..')", {("environment", "")}),
    ("get_ipython().run_cell_magic('bash', '', 'rm x')", {("delete", "x")}),
    ("get_ipython().run_cell('x = 1', store_history=False)", set()),
    ("get_ipython().run_cell_magic('bash', '', cell='rm x')", {("unknown", "")}),
    ("get_ipython().run_line_magic('sx', **more)", {("unknown", "")}),
    ("for f in 'a', '.env':\n    get_ipython().system('cat ' + f)", {("read", "a"), ("read_private", ".env")}),
    ("c = 'ls'\nif x:\n    c = input()\nget_ipython().system(c)", {("read", "."), ("unknown", "")}),
    ("from IPython import get_ipython\nget_ipython().system('rm x')", {("delete", "x"), ("unknown", "")}),
    ("x.system('rm y')", {("process", "rm y")}),
]


@pytest.mark.parametrize(("code", "expected"), CALLS, ids=[repr(code) for code, _ in CALLS])
def test_effects_depend_on_arguments(code: str, expected: set[tuple[EffectKind, str]]) -> None:
    assert read(code) == expected


@pytest.mark.parametrize(
    ("code", "shared", "private"),
    [
        ("open(tempfile.mkdtemp() + '/x', 'w')", {("write", "/tmp")}, set()),
        ("f = tempfile.NamedTemporaryFile(delete=False)\nos.remove(f.name)", {("write", "/tmp")}, set()),
        ("n, p = tempfile.mkstemp()\nos.fdopen(n, 'w').write('x')\nos.close(n)", {("write", "/tmp")}, set()),
        ("with tempfile.TemporaryDirectory() as d:\n    tempfile.mkdtemp(dir=d)", {("write", "/tmp")}, set()),
        ("tempfile.mkdtemp(dir=tempfile.gettempdir() + '/..')", {("write", "/tmp/..")}, {("write", "")}),
        (
            "tempfile.mkdtemp(dir='autogen_files/main')",
            {("write_own", "autogen_files/main")},
            {("write_own", "autogen_files/main")},
        ),
        ("tempfile.mkdtemp(dir='out' if x else None)", {("write", "")}, {("write", "")}),
        ("open(tempfile.gettempprefix(), 'w')", {("write", "")}, {("write", "")}),
        ("f = tempfile.NamedTemporaryFile()\nf.name = '/x'\nos.remove(f.name)", {("delete", "")}, {("delete", "")}),
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
        ("%time x\nfiles = !ls {folder}", ["ls {folder}"]),
        ("%system rm x\n%ll data\n%cat a.csv\n%who", ["rm x", "ls data", "cat a.csv"]),
        ("%%bash -euo pipefail -s a b\nls", ["bash"]),
        ("%%bash x.sh\nls", []),
        ("%%time\n" * 10 + "!ls", []),
        ("%%html\nx", []),
        ("get_ipython().run_cell('%time !ls')", []),
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


def test_code_within_code_ends() -> None:
    assert ("unknown", "") in read("%%time\n" * 10 + "x = 1")


def written(code: str) -> list[str]:
    return [
        effect.target for effect in effects(CodeBlock("python", code), GROUND) if effect.kind in ("write", "write_own")
    ]


@pytest.mark.parametrize(
    ("code", "targets"),
    [
        ("df.to_csv('a%d.csv' % 1)", ["a1.csv"]),
        ("df.to_csv('a%s%s.csv' % 'x')", [""]),
        ("df.to_csv('{}-{}.csv'.format('a', 1))", ["a-1.csv"]),
        ("df.to_csv('{:>3}.csv'.format('a'))", [""]),
        ("df.to_csv('/'.join(['a', 'b.csv']))", ["a/b.csv"]),
        ("df.to_csv('/'.join(parts))", [""]),
        ("df.to_csv(' A.csv '.strip())", ["A.csv"]),
        ("df.to_csv('A.csv'.lower())", ["a.csv"]),
        ("df.to_csv(f'{1}-{True}.csv')", ["1-True.csv"]),
        ("df.to_csv(f'{x:>3}.csv')", [""]),
        ("df.to_csv('out/plot_' + name + '.csv')", ["out/plot_*.csv"]),
        ("import os\ndf.to_csv(os.path.join('out', f'{name}.csv'))", ["out/*.csv"]),
        ("df.to_csv(None or 'b.csv')", ["b.csv"]),
        ("for i, path in enumerate(['a.csv']):\n    df.to_csv(path)", ["a.csv"]),
        ("for a, b in zip(['x.csv'], ['y.csv']):\n    df.to_csv(b)", ["y.csv"]),
        ("for n in range(2):\n    df.to_csv(f'{n}.csv')", ["0.csv", "1.csv"]),
        ("for n in range(10_000):\n    df.to_csv(f'{n}.csv')", [""]),
        ("for n in range(1, 2, 0):\n    df.to_csv(f'{n}.csv')", [""]),
        ("d = {**x}\nfor k in d:\n    df.to_csv(k)", [""]),
        ("d = {'a.csv': 1}\nfor k in d:\n    df.to_csv(k)", ["a.csv"]),
        ("d = {'a.csv': 1}\nfor k in d.keys():\n    df.to_csv(k)", ["a.csv"]),
        ("d = {'a': 'a.csv'}\nfor v in d.values():\n    df.to_csv(v)", ["a.csv"]),
        ("xs = ['a.csv', 'b.csv']\ndf.to_csv(xs[-1])", ["b.csv"]),
        ("xs = ['a.csv', 'b.csv']\ndf.to_csv(xs[k])", ["a.csv", "b.csv"]),
        ("xs = ['a.csv'] + ['b.csv']\ndf.to_csv(xs[1])", ["b.csv"]),
        ("xs = [('a.csv',) if q else ('b.csv',)]\nfor ys in xs:\n    df.to_csv(ys[0])", ["a.csv", "b.csv"]),
        ("xs = ['a.csv']\nxs.append(y)\ndf.to_csv(xs[0])", ["a.csv", ""]),
        ("path = 'a.csv'\npath += '.gz'\ndf.to_csv(path)", ["a.csv", ""]),
        ("xs = ['a.csv']\nxs[0] = y\ndf.to_csv(xs[0])", ["a.csv", ""]),
        ("a, *b, c = 'x.csv', 'y.csv', 'z.csv'\ndf.to_csv(a)", ["x.csv", ""]),
        ("a: str = 'x.csv'\ndf.to_csv(a)", ["x.csv"]),
        ("df.to_csv(path := 'x.csv')", ["x.csv"]),
        ("a = b\nb = a\ndf.to_csv(a)", [""]),
        ("def save(to, path='b.csv'):\n    df.to_csv(to)\n    df.to_csv(path)\nsave('a.csv')", ["a.csv", "b.csv"]),
        ("def save(to):\n    df.to_csv(to)\nsave(to='a.csv')", ["a.csv"]),
        ("def save(to, n):\n    df.to_csv(to)\nsave(n=1, to='a.csv')", ["a.csv"]),
        ("def save(to):\n    df.to_csv(to)\nsave()", [""]),
        ("def save(to):\n    df.to_csv(to)", [""]),
        ("def save(to):\n    df.to_csv(to)\nsave(*xs)", [""]),
        ("def save(to):\n    df.to_csv(to)\nsave('a.csv')\nmap(save, xs)", ["a.csv", ""]),
        ("save = lambda to: df.to_csv(to)", [""]),
        ("try:\n    x()\nexcept E as path:\n    df.to_csv(path)", [""]),
        ("from pathlib import Path\ndf.to_csv(Path('a').joinpath('b.csv'))", ["a/b.csv"]),
        ("from pathlib import Path\ndf.to_csv(Path('a/b.csv').with_name('c.csv'))", ["a/c.csv"]),
        ("from pathlib import Path\ndf.to_csv(Path('a/b.csv').parent / 'c.csv')", ["a/c.csv"]),
        ("from pathlib import Path\ndf.to_csv(Path('..').parent / 'c.csv')", ["../../c.csv"]),
        ("from pathlib import Path\ndf.to_csv(Path('b.csv').resolve())", ["b.csv"]),
        ("from pathlib import Path\ndf.to_csv('x-' + Path('a/b.csv').stem + '.csv')", ["x-b.csv.csv"]),
        ("from pathlib import Path\ndf.to_csv(Path('a/b.csv').drive)", [""]),
        ("from pathlib import Path\ndf.to_csv(Path('a').owner())", [""]),
        ("from pathlib import Path\nPath.cwd().joinpath('a').mkdir()", ["./a"]),
        ("from pathlib import Path\ndf.to_csv(Path('a').glob())", [""]),
        ("import os\ndf.to_csv(os.path.join('a', 1))", [""]),
        ("df.to_csv(x - y)", [""]),
        ("df.to_csv([x for x in ['a.csv']][0])", ["a.csv"]),
        ("df.to_csv(sorted(['a.csv'])[0])", ["a.csv"]),
        ("df.to_csv(os.environ['X'])", [""]),
        ("with open(x) as f, open('o.txt', 'w') as g:\n    f.copy().write('x')\n    g.write('x')", ["o.txt"]),
    ],
)  # fmt: skip
def test_target_of_a_write_is_reported(code: str, targets: list[str]) -> None:
    assert written(code) == targets


def read_shell(code: str) -> set[tuple[EffectKind, str]]:
    return {(effect.kind, effect.target) for effect in effects(CodeBlock("bash", code), GROUND)}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("cat < notes.txt", {("read", "notes.txt")}),
        ("cat data/*.csv 2>/dev/null", {("read", "data/*.csv")}),
        ("grep -rn x . --include='*.py'", {("read", ".")}),
        ("grep -e x a.txt", {("read", "x"), ("read", "a.txt")}),
        ("grep --file=/etc/x a.txt", {("read", "a.txt"), ("read_private", "/etc/x")}),
        ("cat ~/x", {("read_private", "~/x")}),
        ("cd; ls x", {("read_private", "~/x")}),
        ("if [ -f a.csv ]; then wc -l a.csv; fi", {("read", "a.csv")}),
        ("X=1", set()),
        ("X=1 ls", {("environment", "X"), ("read", ".")}),
        ("echo hello 2>&1", set()),
        ("echo $HOME ${PATH}", {("environment", "HOME"), ("environment", "PATH")}),
        ("echo 'two\nlines'", set()),
        ("echo 'open", {("process", "echo 'open")}),
        ("> out.txt", {("write", "out.txt")}),
        ("tar xf a.tar", {("write", "")}),
        ("cp a.csv b.csv", {("read", "a.csv"), ("write", "b.csv")}),
        ("cp", {("write", "")}),
        ("rsync a host.example.org:b", {("read", "a"), ("write", "host.example.org:b"), ("network", "")}),
        ("rm -rf \\\n  data", {("delete", "data")}),
        ("awk '{ system(\"ls\") }' a", {("process", 'awk { system("ls") } a')}),
        ("find . -exec rm {} +", {("process", "find . -exec rm {} +")}),
        ("sed -n 1,3p notes.txt", {("read", "notes.txt")}),
        ("ssh ann@host.example.org ls", {("network", "host.example.org")}),
        ("git clone https://git.example.org/x", {("network", "git.example.org")}),
        ("git pull", {("network", "")}),
        ("git --version", set()),
        ("pip install a b", {("install", "a b")}),
        ("pip install", {("install", "")}),
        ("pip", {("install", "")}),
        ("pip list", set()),
        ("python -m pip install a", {("install", "a")}),
        ("python3 -V", set()),
        ("./run.sh", {("process", "run.sh")}),
        ("/tmp/ls data", {("process", "ls data")}),
        ("export X=1", {("environment", "X")}),
        ("env", {("environment", "")}),
        ("echo `rm x`", {("delete", "x")}),
        ("diff <(rm x) a.txt", {("delete", "x"), ("read_private", ""), ("read", "a.txt")}),
        ("echo $(cat <<EOF)", {("process", "echo $(cat <<EOF)")}),
        ("echo $(echo 'x)", {("process", "echo $(echo 'x)")}),
        ("cat <<EOF\nx\nEOF", {("process", "cat <<EOF x EOF")}),
        ("(cd data; rm x)", {("delete", "data/x")}),
        ("for f in *.csv; do rm $f; done", {("delete", "")}),
    ],
)  # fmt: skip
def test_shell_effects_of_commands(code: str, expected: set[tuple[EffectKind, str]]) -> None:
    assert read_shell(code) == expected
