"""Code as models write it, for scripts and terminals."""

from itertools import chain
from pathlib import Path

import pytest

from autogen_nb.outputs import Display, Output, Result, Stream
from tests.kernels.looping import SharedKernel, shared_kernel

HALF = r"half = '\ud83d'" + "\n"
PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\n"


def text(outputs: list[Output]) -> str:
    return "".join(item.text for item in outputs if isinstance(item, Stream))


def pictures(outputs: list[Output]) -> int:
    return len([item for item in outputs if isinstance(item, Display) and "image/png" in item.data])


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        ("print('one', half, 'two')", "one \ufffd two\n"),
        ("print('one', file=sys.stderr)\nsys.stderr.write(half)", "one\n\ufffd"),
        (r"print('\ud83d\ude00')", "\N{GRINNING FACE}\n"),
    ],
    ids=["print", "stderr", "both halves"],
)
def test_half_a_surrogate_pair_replaces_only_itself(agent: SharedKernel, code: str, printed: str) -> None:
    ran = agent.execute(f"import sys\n{HALF}{code}\nNone")

    assert (text(ran.outputs), ran.finished.exit_code) == (printed, 0)


@pytest.mark.parametrize("code", ["display(Markdown(half))", "Markdown(half)", "raise ValueError(half)"])
def test_half_a_surrogate_pair_is_shown(agent: SharedKernel, code: str) -> None:
    ran = agent.execute(f"from IPython.display import Markdown, display\n{HALF}{code}")

    assert "\ufffd" in str(ran.outputs)
    assert [item for item in ran.outputs if isinstance(item, Stream)] == []


def test_half_a_surrogate_pair_in_an_answer(agent: SharedKernel) -> None:
    async def ask(prompt: str, password: bool) -> str:
        return "one \ud83d"

    assert agent.execute("print(input())", ask=ask).stdout == "one \ufffd\n"


PARSED = {
    "argparse": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', default=3)\n"
    "print(p.parse_args())",
    "getopt": "import getopt\nprint(getopt.getopt(sys.argv[1:], 'n:'))",
    "click": "import click\n@click.command()\ndef main(): print('ran')\nmain(standalone_mode=False)",
    "argv": "print(sys.argv)",
    "orig_argv": "print('json' in str(sys.orig_argv))",
}


@pytest.mark.parametrize("code", PARSED.values(), ids=PARSED)
def test_programs_get_no_arguments(agent: SharedKernel, code: str) -> None:
    ran = agent.execute(f"import sys\n{code}")

    assert text(ran.outputs) in ("Namespace(n=3)\n", "([], [])\n", "ran\n", "['']\n", "False\n")


STREAMS = {
    "reconfigure": "sys.stdout.reconfigure(encoding='utf-8', line_buffering=True)\nprint('\u00e9')",
    "buffer": "sys.stdout.buffer.write('\u00e9\\n'.encode())\nsys.stdout.flush()",
    "cut letter": "sys.stdout.buffer.write(b'\\xc3')\nsys.stdout.buffer.write(b'\\xa9\\n')",
    "number": "os.write(sys.stdout.fileno(), '\u00e9\\n'.encode())",
    "child": "subprocess.run(['echo', '\u00e9'], stdout=sys.stdout, check=True)",
    "opened": "sys.stdout = open(sys.stdout.fileno(), 'w', encoding='utf-8', buffering=1)\nprint('\u00e9')",
    "opened by number": "sys.stdout = open(1, 'w', encoding='utf-8', closefd=False)\nprint('\u00e9')",
    "first stream": "print('\u00e9', file=sys.__stdout__, flush=True)",
    "closed": "print('\u00e9')\nsys.stdout.close()\nsys.stderr.close()",
    "input": "sys.stdin = io.StringIO('\u00e9\\n')\nprint(input())",
    "wrapper": "out = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\nprint('\u00e9', file=out)\ndel out",
    "replaced": "sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\nprint('\u00e9')",
    "codecs": "sys.stdout = codecs.getwriter('utf-8')(sys.stdout.detach())\nprint('\u00e9')",
    "attributes": "sys.stdout.line_buffering, sys.stdout.write_through\nprint('\u00e9')",
}


@pytest.mark.parametrize("code", STREAMS.values(), ids=STREAMS)
def test_streams_are_those_of_a_terminal(agent: SharedKernel, code: str) -> None:
    ran = agent.execute(f"import codecs, io, os, subprocess, sys\n{code}\nNone")

    assert (ran.stdout, ran.finished.exit_code) == ("\u00e9\n", 0)
    assert agent.execute("import os\nos.system('echo after')\nNone").stdout == "after\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("matplotlib.use('Agg')\n" + PLOT, 1),
        ("plt.switch_backend('pdf')\n" + PLOT + "plt.show()", 1),
        (PLOT + "plt.show()\n" + PLOT + "plt.show()", 2),
        (PLOT + "plt.savefig('plot.png')\nplt.close()", 0),
        ("%matplotlib notebook\n" + PLOT, 1),
        ("matplotlib.use('WebAgg')\n" + PLOT + "plt.show()", 1),
        ("from matplotlib.figure import Figure\nfigure = Figure()\nfigure.add_subplot()\ndisplay(figure)", 1),
        ("%matplotlib inline\n" + PLOT, 1),
    ],
    ids=["use", "switch", "two", "closed", "notebook", "page", "without pyplot", "inline again"],
)
def test_plots_of_each_backend_are_shown(agent: SharedKernel, code: str, count: int) -> None:
    agent.execute("import matplotlib\nimport matplotlib.pyplot as plt")
    ran = agent.execute(code + "\nNone")

    assert pictures(ran.outputs) == count
    assert text(ran.outputs) == ""
    assert pictures(agent.execute(PLOT + "None").outputs) == 1


@pytest.mark.slow
def test_plots_are_shown_in_the_block_that_imports_matplotlib(tmp_path: Path) -> None:
    shown = f"{PLOT}plt.show()\n"
    with shared_kernel(tmp_path) as agent:
        ran = agent.execute(f"import matplotlib\nmatplotlib.use('Agg')\n{shown}{shown}")

    assert (pictures(ran.outputs), text(ran.outputs)) == (2, "")


LATE = {
    "thread": "threading.Thread(target=late).start()",
    "pool": "pool = ThreadPoolExecutor(1)\nfuture = pool.submit(late)",
    "task": "async def wait():\n    while not go.is_set(): await asyncio.sleep(0.01)\n    print('LATE')\n"
    "task = asyncio.ensure_future(wait())",
    "error": "threading.Thread(target=lambda: go.wait() and 1 / 0).start()",
    "update": "shown = display({}, display_id=True)\n"
    "threading.Thread(target=lambda: go.wait() and shown.update('LATE')).start()",
}


@pytest.mark.parametrize("code", LATE.values(), ids=LATE)
def test_late_output_comes_with_the_next_block(agent: SharedKernel, code: str) -> None:
    imports = "import asyncio, threading\nfrom concurrent.futures import ThreadPoolExecutor\ngo = threading.Event()\n"
    agent.execute(f"{imports}def late():\n    go.wait()\n    print('LATE')\n{code}")
    wait = "go.set()\nfor _ in range(20):\n    await asyncio.sleep(0.02)\nprint('own')"
    late, after = agent.execute(wait).outputs, text(agent.execute("print('after')").outputs)

    assert "Output of an earlier block, after its end:\n" in text(late)
    assert "own\n" in text(late)
    assert "LATE" in str(late) or "ZeroDivisionError" in str(late)
    assert after == "after\n"


LATE_ERRORS = {
    "task": "async def run(): fail()\ntask = asyncio.create_task(run())",
    "tasks": "async def run(): fail()\ntasks = [asyncio.create_task(run())]",
    "callback": "asyncio.get_running_loop().call_later(0.01, fail)\nNone",
    "signal": "signal.signal(signal.SIGALRM, lambda *_: over.append(print('ValueError: LATE')))\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.1)",
}


@pytest.mark.parametrize("code", LATE_ERRORS.values(), ids=LATE_ERRORS)
def test_what_the_loop_reports_late_comes_with_the_next_block(agent: SharedKernel, code: str) -> None:
    fail = "over = []\ndef fail():\n    over.append(1)\n    raise ValueError('LATE')\n"
    agent.execute(f"import asyncio, signal\n{fail}{code}")
    ran = agent.execute("while not over:\n    await asyncio.sleep(0.01)")

    assert text(ran.outputs).count("ValueError: LATE") == 1
    assert text(agent.execute("print('after')").outputs) == "after\n"


def test_the_error_of_a_task_that_is_awaited_comes_once(agent: SharedKernel) -> None:
    agent.execute("async def fail(): 1 / 0\nimport asyncio\ntask = asyncio.create_task(fail())")
    ran = agent.execute("try: await task\nexcept ZeroDivisionError: print('caught')")

    assert text(ran.outputs) == "caught\n"


def test_work_of_an_older_pool_belongs_to_the_block_that_submits_it(agent: SharedKernel) -> None:
    pool = "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\n"
    submit = "pool.submit(print, 'own').result()"
    agent.execute(pool + submit)

    assert text(agent.execute(submit).outputs) == "own\n"


def test_a_late_flood_is_cut(agent: SharedKernel) -> None:
    flood = "def flood():\n    go.wait()\n    for _ in range(300): print('x' * 9_999)\n    print('END')"
    agent.execute(f"import threading\ngo = threading.Event()\n{flood}\nthread = threading.Thread(target=flood)")
    agent.execute("thread.start()")
    chunks = [agent.execute(code).outputs for code in ("go.set()\nthread.join()\nprint('own')", "1")]
    shown = text(list(chain(*chunks)))

    assert "own\n" in shown
    assert "[the rest of the late output is left out]" in shown
    assert len(shown) < 500_000
    assert any(isinstance(item, Result) for item in chunks[1])
