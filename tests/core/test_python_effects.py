import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.analysis import effects
from autogen_nb.core.analysis.library_effects import COMPUTES
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.effects import Effect, EffectKind
from autogen_nb.messages import CodeBlock

GROUND = PathScope("/home/ann/work", "/home/ann/work/autogen_files/main", "/home/ann")


def of(code: str) -> tuple[Effect, ...]:
    return tuple(effect for effect in effects(CodeBlock("python", code), GROUND) if not effect.harmless)


def told(code: str) -> list[str]:
    return [effect.words for effect in effects(CodeBlock("python", code), GROUND)]


HARMLESS = {
    "arithmetic": "x = 1 + 1\nprint(x)",
    "imports": "import numpy as np\nimport pandas as pd\nimport matplotlib.pyplot as plt\nfrom math import pi",
    "submodules": "from sklearn.linear_model import LinearRegression\nimport scipy.stats as stats",
    "a look at a frame": "df.info()\nprint(df.head())\ndf.describe(include='all').T",
    "missing values": "df.isna().sum().sort_values(ascending=False)",
    "read a table": "df = pd.read_csv('sales.csv', parse_dates=['date'])",
    "read in a folder": "df = pd.read_csv('data/sales.csv')\nother = pd.read_excel('./data/x.xlsx', sheet_name=1)",
    "read with polars": "import polars as pl\npl.scan_csv('data/sales.csv').group_by('a').len().collect()",
    "load an array": "a = np.load('data/a.npy')\nb = np.loadtxt('b.txt')",
    "group": "df.groupby('region')['revenue'].agg(['mean', 'sum', 'count']).round(2)",
    "named aggregations": "df.groupby('day').agg(low=('price', 'min'), open=('open', 'first'))",
    "pivot": "df.pivot_table(index='month', columns='region', values='x', aggfunc='sum').fillna(0)",
    "a query": "df.query('revenue > 10 and `the region` == \"North\" and units < @limit')",
    "a new column": "df.eval('total = price * units')",
    "a query with a method": "df.query('name.str.contains(\"a\")', engine='python')",
    "dates": "df['date'] = pd.to_datetime(df['date'], format='%d.%m.%Y', errors='coerce')",
    "numbers": "df['x'] = pd.to_numeric(df['x'].str.replace(',', '.'))",
    "lists": "df['x'].to_list(); df.to_dict('records'); df['x'].to_numpy()",
    "a printed table": "print(df.head(3).to_string(index=False))",
    "a plot": "fig, ax = plt.subplots(figsize=(8, 4))\ndf.plot(ax=ax)\nax.set_title('x')\nplt.show()",
    "a style": "plt.style.use('seaborn-v0_8-whitegrid')\nimport matplotlib\nmatplotlib.use('Agg')",
    "a heat map": "import seaborn as sns\nsns.heatmap(df.corr(numeric_only=True), annot=True)",
    "a model": "from sklearn.model_selection import train_test_split\nm.fit(x, y)\nprint(m.score(x, y))",
    "a toy table": "from sklearn.datasets import load_iris\nx, y = load_iris(return_X_y=True)",
    "JSON": "import json\nprint(json.dumps({'a': 1}))\njson.loads('[1]')",
    "regular expressions": "import re\npattern = re.compile(r'\\d+')\npattern.findall(text)",
    "a class": "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n    y: int = 0\nPoint(1)",
    "a named tuple": "from collections import namedtuple\nP = namedtuple('P', 'x y')\nP(1, 2)._asdict()",
    "a script": "def main():\n    print('x')\nif __name__ == '__main__':\n    main()",
    "a lambda": "df['a'].apply(lambda v: v * 2).map(str)",
    "strings": "'{:.2f} {}'.format(1, 'x').strip().replace('x', 'y')\nf'{x!r:>10}'",
    "lists change": "xs = [1]\nxs.append(2)\nxs.remove(1)\nxs.pop()",
    "columns rename": "df = df.rename(columns={'a': 'b'}).replace({'x': None}).drop(columns=['c'])",
    "rows": "df.loc[df['a'] > 1, 'b'] = 0\ndf.iloc[:5, 0]",
    "resampling": "df.set_index('date').resample('ME')['x'].sum().rolling(3).mean()",
    "outliers": "q1, q3 = df['x'].quantile([0.25, 0.75])\nout = df[(df['x'] < q1) | (df['x'] > q3)]",
    "a test": "from scipy import stats\nt, p = stats.ttest_ind(a, b, equal_var=False)",
    "a regression": "import statsmodels.api as sm\nprint(sm.OLS(y, sm.add_constant(x)).fit().summary())",
    "random numbers": "rng = np.random.default_rng(0)\nrng.normal(size=10)",
    "warnings": "import warnings\nwarnings.filterwarnings('ignore')",
    "errors": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    print(error)",
    "OHLC": "print(df.open.mean(), df.close.max())",
    "a match": "match x:\n    case Point(x=0):\n        print('origin')",
    "an emoji": "print('👩\u200d💻')",
}

RISKY: dict[str, tuple[str, EffectKind]] = {
    "write a table": ("df.to_csv('x.csv')", "write"),
    "write a printed table": ("df.to_string('x.txt')", "write"),
    "write a printed table by name": ("df.to_string(buf='x.txt')", "write"),
    "write a printed table by stars": ("df.to_string(**how)", "write"),
    "write a picture": ("plt.savefig('x.png')", "write"),
    "write a picture by its canvas": ("fig.canvas.print_png('x.png')", "write"),
    "write an array": ("np.save('x.npy', a)", "write"),
    "write with polars": ("df.sink_parquet('x')", "write"),
    "write a workbook": ("pd.ExcelWriter('x.xlsx')", "write"),
    "write by a method's name": ("df.apply('to_csv', args=('x.csv',))", "write"),
    "write by a listed name": ("df.agg(['mean', 'to_pickle'])", "write"),
    "write by a name after a name": ("df.apply(func='to_csv', path_or_buf='x.csv')", "write"),
    "write in a query": ("df.query('a.to_csv(\"x\")')", "write"),
    "write JSON": ("import json\njson.dump(x, f)", "write"),
    "delete": ("import os\nos.remove('x')", "delete"),
    "delete with an earlier import": ("os.remove('x')", "delete"),
    "delete a tree": ("import shutil\nshutil.rmtree('x')", "delete"),
    "delete by a path": ("from pathlib import Path\nPath('x').unlink()", "delete"),
    "delete by another's path": ("import matplotlib\nmatplotlib.Path('x').rename('y')", "unknown"),
    "network with an earlier import": ("requests.get('http://x')", "network"),
    "network by a table": ("pd.read_csv('https://example.org/x.csv')", "network"),
    "network by a data set": ("sns.load_dataset('tips')", "network"),
    "network by another data set": ("from sklearn.datasets import fetch_openml", "network"),
    "a process": ("import subprocess\nsubprocess.run(['ls'])", "process"),
    "a process by os": ("os.system('ls')", "process"),
    "exec by another name": ("e = exec\ne('1')", "unknown"),
    "attrgetter": ("from operator import attrgetter", "unknown"),
    "methodcaller": ("import operator\noperator.methodcaller('x')(y)", "unknown"),
    "import by call": ("__import__('os')", "unknown"),
    "import from a folder": ("from .tools import clean", "unknown"),
    "import of a folder": ("from . import tools", "unknown"),
    "import all": ("from numpy import *", "unknown"),
    "import a reader": ("from pandas import read_pickle", "unknown"),
    "import of what is not known": ("import helpers", "unknown"),
    "builtins": ("__builtins__['open']('x')", "unknown"),
    "a class's bases": ("().__class__.__base__.__subclasses__()", "unknown"),
    "a name in a text": ("'{0.__class__}'.format(x)", "unknown"),
    "a name in a pattern": ("match print:\n    case object(__self__=b):\n        pass", "unknown"),
    "a module in a module": ("import random\nrandom._os.remove('x')", "unknown"),
    "a module in another": ("import dataclasses\ndataclasses.inspect", "unknown"),
    "an annotation that runs": ("import typing\ntyping.get_type_hints(f)", "unknown"),
    "pandas's eval": ("pd.eval(text)", "unknown"),
    "a query that is made up": ("df.query(f'a > {x}')", "unknown"),
    "a query that cannot be read": ("df.query('a >')", "unknown"),
    "an opener": ("json.codecs.open('x')", "unknown"),
    "read above": ("pd.read_csv('../x.csv')", "read_private"),
    "read further above": ("pd.read_csv('data/../../x.csv')", "read_private"),
    "read from the root": ("pd.read_csv('/etc/passwd')", "read_private"),
    "read from home": ("pd.read_csv('~/x.csv')", "read_private"),
    "read from another's home": ("pd.read_csv('~root/x.csv')", "read_private"),
    "read from a drive": ("pd.read_csv('C:\\\\x.csv')", "read_private"),
    "read above, the other way": ("pd.read_csv('..\\\\x.csv')", "read_private"),
    "read a hidden file": ("pd.read_csv('.env')", "read_private"),
    "read in a hidden folder": ("pd.read_csv('data/.git/config')", "read_private"),
    "read by a variable": ("pd.read_csv(path)", "read_private"),
    "read by a keyword": ("pd.read_csv(filepath_or_buffer='/etc/passwd')", "read_private"),
    "read nothing": ("pd.read_csv('')", "read_private"),
    "unpickle": ("np.load('x.npy', allow_pickle=True)", "unknown"),
    "unpickle by stars": ("np.load('x.npy', **how)", "unknown"),
    "unpickle a table": ("pd.read_pickle('x.pkl')", "unknown"),
    "a style from a file": ("plt.style.use('http://example.org/x.mplstyle')", "network"),
    "a style by a keyword": ("plt.style.use(style='/etc/x')", "unknown"),
    "a style by a variable": ("plt.style.use(style)", "unknown"),
    "a magic": ("%cd /", "environment"),
    "a syntax error": ("print(", "unknown"),
    "what is too deep": ("-" * 50_000 + "1", "unknown"),
    "a shell line behind a line end of IPython's": ("# x\u2028!touch x", "unknown"),
    "a shell line behind a form feed": ("# x\x0c!touch x", "unknown"),
    "text that turns around": ("x = 'a\u202eb'", "unknown"),
}


@pytest.mark.parametrize("code", HARMLESS.values(), ids=HARMLESS.keys())
def test_typical_analysis_passes(code: str) -> None:
    assert of(code) == ()


@pytest.mark.parametrize(("code", "kind"), RISKY.values(), ids=RISKY.keys())
def test_more_than_that_is_asked_about(code: str, kind: EffectKind) -> None:
    assert kind in {effect.kind for effect in of(code)}


@given(st.sampled_from(sorted(COMPUTES)), st.sampled_from(["sys", "subprocess", "_os", "__loader__", "builtins"]))
def test_no_package_leads_to_internals(package: str, inner: str) -> None:
    assert of(f"import {package}\n{package}.{inner}") != ()
    assert of(f"from {package} import {inner}") != ()


@given(st.text())
def test_any_code_can_be_read(code: str) -> None:
    assert isinstance(effects(CodeBlock("python", code), GROUND), tuple)
