"""Tracebacks for a model."""

from autogen_nb.core.text.execution_report import text_of
from autogen_nb.core.text.tracebacks import shortened
from autogen_nb.outputs import Failure

PANDAS = "/home/me/.venv/lib/python3.11/site-packages/pandas/core/"
KEY_ERROR = (
    "-" * 75,
    "KeyError                                  Traceback (most recent call last)",
    f"File {PANDAS}indexes/base.py:3816, in Index.get_loc(self, key)\n-> 3816     return self._engine.get_loc(key)\n",
    "File pandas/_libs/index.pyx:172, in pandas._libs.index.IndexEngine.get_loc()\n--> 172 'no source'\n",
    "KeyError: 'zz'",
    "\nThe above exception was the direct cause of the following exception:\n",
    "KeyError                                  Traceback (most recent call last)",
    "Cell In[2], line 1\n----> 1 g()\n",
    "Cell In[1], line 3, in g()\n      2 def g():\n----> 3     return frame['zz']\n",
    f"File {PANDAS}frame.py:4330, in DataFrame.__getitem__(self, key)\n-> 4330   indexer = self.columns.get_loc(key)\n",
    "KeyError: 'zz'",
)


def test_frames_of_libraries_become_one_line() -> None:
    assert shortened(KEY_ERROR) == (
        "KeyError: Traceback (most recent call last)\n"
        "... 2 frames of libraries, the last: pandas/_libs/index.pyx:172, in pandas._libs.index.IndexEngine.get_loc()\n"
        "KeyError: 'zz'\n\n"
        "The above exception was the direct cause of the following exception:\n\n"
        "KeyError: Traceback (most recent call last)\n"
        "Cell In[2], line 1\n----> 1 g()\n"
        "Cell In[1], line 3, in g()\n      2 def g():\n----> 3     return frame['zz']\n"
        "... 1 frame of libraries, the last: pandas/core/frame.py:4330, in DataFrame.__getitem__(self, key)\n"
        "KeyError: 'zz'"
    )


def test_files_of_its_own_are_its_own() -> None:
    own = "File /home/me/work/mine.py:2, in f(df)\n----> 2     return df['zz']\n"
    library = "File ~/.pyenv/versions/3.11.7/lib/python3.11/asyncio/tasks.py:502, in wait_for(fut, timeout)\n--> 502\n"

    assert shortened([own, library]) == (
        own + "... 1 frame of libraries, the last: asyncio/tasks.py:502, in wait_for(fut, timeout)"
    )


def test_endless_recursion_has_an_end() -> None:
    frames = [f"Cell In[8], line {n}, in r(n)\n----> 1 def r(n): return r(n+1)\n" for n in range(980)]

    text = shortened([*frames, "RecursionError: too deep"])

    assert [line for line in text.split("\n") if not line.startswith("---")] == [
        *(f"Cell In[8], line {n}, in r(n)" for n in range(3)),
        "... 974 frames left out",
        *(f"Cell In[8], line {n}, in r(n)" for n in range(977, 980)),
        "RecursionError: too deep",
    ]


def test_a_syntax_error_is_whole() -> None:
    entry = "  Cell In[5], line 1\n    def\n       ^\nSyntaxError: invalid syntax\n"

    assert shortened([entry]) == entry


def test_colours_do_not_hide_a_frame() -> None:
    coloured = ["\x1b[31mFile \x1b[39m /x/site-packages/y.py:1, in f()", "\x1b[31mKeyError\x1b[39m: 'x'"]

    assert text_of([Failure("KeyError", "'x'", tuple(coloured))]) == (
        "... 1 frame of libraries, the last: y.py:1, in f()\nKeyError: 'x'"
    )
