"""A corpus of what passes without a doubt, and of what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autogen_nb.core.harmless import IMPORTS, doubts
from autogen_nb.messages import CodeBlock


def of(code: str) -> tuple[str, ...]:
    """The doubts about Python code."""
    return doubts(CodeBlock("python", code))


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

DOUBTED = {
    "open": ("open('x.txt')", "open"),
    "write a table": ("df.to_csv('x.csv')", ".to_csv"),
    "write a printed table": ("df.to_string('x.txt')", ".to_string"),
    "write a printed table by name": ("df.to_string(buf='x.txt')", ".to_string"),
    "write a printed table by stars": ("df.to_string(**how)", ".to_string"),
    "write a picture": ("plt.savefig('x.png')", ".savefig"),
    "write a picture by its canvas": ("fig.canvas.print_png('x.png')", ".print_png"),
    "write an array": ("np.save('x.npy', a)", ".save"),
    "write with polars": ("df.sink_parquet('x')", ".sink_parquet"),
    "write a workbook": ("pd.ExcelWriter('x.xlsx')", ".ExcelWriter"),
    "write a PDF": ("from matplotlib.backends.backend_pdf import PdfPages", "backends"),
    "write by a method's name": ("df.apply('to_csv', args=('x.csv',))", ".to_csv"),
    "write by a listed name": ("df.agg(['mean', 'to_pickle'])", ".to_pickle"),
    "write by a name after a name": ("df.apply(func='to_csv', path_or_buf='x.csv')", ".to_csv"),
    "write in a query": ("df.query('a.to_csv(\"x\")')", ".to_csv"),
    "write JSON": ("import json\njson.dump(x, f)", ".dump"),
    "delete": ("import os\nos.remove('x')", "os"),
    "delete with an earlier import": ("os.remove('x')", "os"),
    "delete a tree": ("import shutil\nshutil.rmtree('x')", "shutil"),
    "delete by a path": ("from pathlib import Path\nPath('x').unlink()", "pathlib"),
    "delete by another's path": ("import matplotlib\nmatplotlib.Path('x').rename('y')", ".Path"),
    "network": ("import requests", "requests"),
    "network with an earlier import": ("requests.get('http://x')", "requests"),
    "network by a table": ("pd.read_csv('https://example.org/x.csv')", ".read_csv"),
    "network by a data set": ("sns.load_dataset('tips')", ".load_dataset"),
    "network by another data set": ("from sklearn.datasets import fetch_openml", "fetch_openml"),
    "a data base": ("pd.read_sql('select 1', 'sqlite:///x.db')", ".read_sql"),
    "a process": ("import subprocess\nsubprocess.run(['ls'])", "subprocess"),
    "a process by os": ("os.system('ls')", ".system"),
    "threads": ("import threading", "threading"),
    "eval": ("eval('1')", "eval"),
    "exec": ("exec('x = 1')", "exec"),
    "exec in other letters": ("\uff45xec('x = 1')", "exec"),
    "exec by another name": ("e = exec\ne('1')", "exec"),
    "compile": ("compile('1', '', 'eval')", "compile"),
    "getattr": ("getattr(x, 'y')", "getattr"),
    "attrgetter": ("from operator import attrgetter", "attrgetter"),
    "methodcaller": ("import operator\noperator.methodcaller('x')(y)", ".methodcaller"),
    "import by call": ("__import__('os')", "__import__"),
    "import from a folder": ("from .tools import clean", ".tools.clean"),
    "import of a folder": ("from . import tools", ".tools"),
    "import all": ("from numpy import *", "numpy.*"),
    "import a reader": ("from pandas import read_pickle", "pandas.read_pickle"),
    "import of what is not known": ("import helpers", "helpers"),
    "builtins": ("__builtins__['open']('x')", "__builtins__"),
    "a class's bases": ("().__class__.__base__.__subclasses__()", ".__subclasses__"),
    "a name in a text": ("'{0.__class__}'.format(x)", "__class__"),
    "a name in a pattern": ("match print:\n    case object(__self__=b):\n        pass", ".__self__"),
    "a module in a module": ("import random\nrandom._os.remove('x')", "._os"),
    "a module in another": ("import dataclasses\ndataclasses.inspect", ".inspect"),
    "an annotation that runs": ("import typing\ntyping.get_type_hints(f)", ".get_type_hints"),
    "pandas's eval": ("pd.eval(text)", ".eval"),
    "a query that is made up": ("df.query(f'a > {x}')", ".query"),
    "a query that cannot be read": ("df.query('a >')", ".query"),
    "an opener": ("json.codecs.open('x')", ".open"),
    "read above": ("pd.read_csv('../x.csv')", ".read_csv"),
    "read further above": ("pd.read_csv('data/../../x.csv')", ".read_csv"),
    "read from the root": ("pd.read_csv('/etc/passwd')", ".read_csv"),
    "read from home": ("pd.read_csv('~/x.csv')", ".read_csv"),
    "read from another's home": ("pd.read_csv('~root/x.csv')", ".read_csv"),
    "read from a drive": ("pd.read_csv('C:\\\\x.csv')", ".read_csv"),
    "read above, the other way": ("pd.read_csv('..\\\\x.csv')", ".read_csv"),
    "read a hidden file": ("pd.read_csv('.env')", ".read_csv"),
    "read in a hidden folder": ("pd.read_csv('data/.git/config')", ".read_csv"),
    "read by a variable": ("pd.read_csv(path)", ".read_csv"),
    "read by a keyword": ("pd.read_csv(filepath_or_buffer='/etc/passwd')", ".read_csv"),
    "read nothing": ("pd.read_csv('')", ".read_csv"),
    "unpickle": ("np.load('x.npy', allow_pickle=True)", ".load"),
    "unpickle by stars": ("np.load('x.npy', **how)", ".load"),
    "unpickle a table": ("pd.read_pickle('x.pkl')", ".read_pickle"),
    "a style from a file": ("plt.style.use('http://example.org/x.mplstyle')", ".use"),
    "a style by a keyword": ("plt.style.use(style='/etc/x')", ".use"),
    "a style by a variable": ("plt.style.use(style)", ".use"),
    "input": ("input('?')", "input"),
    "the shell of the notebook": ("get_ipython().system('ls')", "get_ipython"),
    "a magic": ("%cd /", "not plain Python"),
    "a shell line": ("!ls", "not plain Python"),
    "a cell magic": ("%%bash\nls", "not plain Python"),
    "a syntax error": ("print(", "not plain Python"),
    "what is too deep": ("-" * 50_000 + "1", "not plain Python"),
    "a shell line behind a line end of IPython's": ("# x\u2028!touch x", "characters that hide"),
    "a shell line behind a form feed": ("# x\x0c!touch x", "characters that hide"),
    "text that turns around": ("x = 'a\u202eb'", "characters that hide"),
}


@pytest.mark.parametrize("code", HARMLESS.values(), ids=HARMLESS.keys())
def test_typical_analysis_passes(code: str) -> None:
    """Computing, looking and plotting need no question."""
    assert of(code) == ()


@pytest.mark.parametrize(("code", "named"), DOUBTED.values(), ids=DOUBTED.keys())
def test_more_than_that_is_doubted(code: str, named: str) -> None:
    """A doubt names what should be looked at."""
    assert named in "; ".join(of(code))


@pytest.mark.parametrize("language", ["sh", "javascript", "r"])
def test_other_languages_are_doubted(language: str) -> None:
    """Only Python is read."""
    assert doubts(CodeBlock(language, "x = 1")) == (f"{language} code",)


def test_each_doubt_is_named_once() -> None:
    """Ten writes are one reason to look."""
    assert of("df.to_csv('a')\ndf.to_csv('b')\nopen('c')\nopen('d')") == (
        "may write or start something: .to_csv",
        "uses open",
    )


@given(st.sampled_from(sorted(IMPORTS)), st.sampled_from(["os", "sys", "subprocess", "_os", "io", "__loader__"]))
def test_no_package_leads_to_internals(package: str, inner: str) -> None:
    """A harmless package gives no way to what it imports itself."""
    assert of(f"import {package}\n{package}.{inner}") != ()
    assert of(f"from {package} import {inner}") != ()


@given(st.text())
def test_any_code_can_be_read(code: str) -> None:
    """Whatever a model writes is read without an error."""
    assert isinstance(of(code), tuple)
