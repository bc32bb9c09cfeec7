import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from autogen_nb.testing import FakeOpenAI, FakeReply
from tests.contract.ways import Cannot, image
from tests.notebook.conftest import python, told
from tests.notebook.front_end import FrontEnd
from tests.tutorial.running import printed_by


def source(name: str) -> str:
    return Path(__file__).parent.joinpath("programs", f"{name}.txt").read_text(encoding="utf-8")


FIBONACCI = python(
    "numbers, a, b = [], 0, 1\nwhile a <= 100:\n    numbers.append(a)\n    a, b = b, a + b\n"
    "with open('fibonacci.txt', 'w') as file:\n    file.write(' '.join(map(str, numbers)))\nprint('DONE writing')"
)
NUMBERS = "0 1 1 2 3 5 8 13 21 34 55 89"
SALES = python(
    "import pandas as pd\ndata = pd.read_csv('sales.csv')\nbest = data.loc[data.revenue.idxmax(), 'month']\n"
    "growth = data.revenue.iloc[-1] / data.revenue.iloc[0] - 1\n"
    "print(f'total {data.revenue.sum()}, average {data.revenue.mean():.2f}, best {best}, growth {growth:.1%}')"
)
TESTS = (
    "# filename: test_discount.py\nimport pytest\n\n\n"
    "def calculate_discount(price: float, discount_pct: float) -> float:\n"
    "    if discount_pct < 0 or discount_pct > 100:\n"
    '        raise ValueError("Discount must be 0-100")\n'
    "    return price * (1 - discount_pct / 100)\n\n\n"
    "@pytest.mark.parametrize(('pct', 'left'), [(25, 75), (0, 100), (100, 0)])\n"
    "def test_discount(pct, left):\n    assert calculate_discount(100, pct) == left\n\n\n"
    "@pytest.mark.parametrize('pct', [-1, 101])\n"
    "def test_invalid(pct):\n    with pytest.raises(ValueError):\n        calculate_discount(100, pct)"
)
RUN_TESTS = "```sh\npython -m pytest -v -p no:cacheprovider test_discount.py\n```"


def ran(name: str, folder: Path, replies: Sequence[Any]) -> tuple[str, FakeOpenAI]:
    with FakeOpenAI(replies) as server:
        printed = printed_by(source(name), folder, server.base_url)
    return printed, server


@pytest.mark.slow
def test_fibonacci(tmp_path: Path) -> None:
    printed, server = ran("fibonacci", tmp_path, [FIBONACCI, "It is verified. DONE"])

    assert (tmp_path / "output" / "fibonacci.txt").read_text() == NUMBERS
    assert len(list((tmp_path / "output").glob("*.py"))) == 1
    assert len(server.requests) == 2
    assert "DONE writing" in told(server, 1)
    assert (
        printed.index("coder (to team):") < printed.index("executor (to team):") < printed.index("It is verified. DONE")
    )


@pytest.mark.slow
def test_sales(tmp_path: Path) -> None:
    wrong = python("print(open('output/sales.csv').read())")
    printed, server = ran("sales", tmp_path, [wrong, SALES, "The report is VERIFIED."])
    rows = list(csv.DictReader(io.StringIO((tmp_path / "output" / "sales.csv").read_text())))
    revenue = [int(row["revenue"]) for row in rows]

    assert "'output/sales.csv' is 'sales.csv' here" in told(server, 1)
    assert f"total {sum(revenue)}, average {sum(revenue) / 6:.2f}, best Jun, growth 55.6%" in told(server, 2)
    assert "VERIFIED" in printed


@pytest.mark.slow
def test_pytest_writer(tmp_path: Path) -> None:
    printed, server = ran("pytest_writer", tmp_path, [python(TESTS), RUN_TESTS, "All five tests pass. PASS"])

    assert (tmp_path / "output" / "test_discount.py").read_text().strip() == TESTS
    assert "5 passed" in told(server, 2)
    assert "PASSED" in told(server, 2)
    assert "All five tests pass. PASS" in printed


@pytest.mark.slow
def test_restricted(tmp_path: Path) -> None:
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "notes.txt").write_text("Buy milk.")
    call = {"name": "safe_read_file", "arguments": {"path": "output/notes.txt"}}
    printed, server = ran("restricted", tmp_path, [FakeReply(tool_calls=[call]), "They say: buy milk."])
    refusal = "Error: can only read files in ./output"

    assert printed.startswith(f"Buy milk.\n{refusal}\n")
    assert 'def safe_read_file(path: str) -> str:\n    """Read a file safely."""' in printed
    assert told(server, 1) == "Buy milk."


@pytest.fixture
def slim() -> Iterator[None]:
    try:
        found = image()
    except Cannot as cannot:
        pytest.skip(str(cannot))
    with closing(import_module("docker").from_env()) as engine:
        there = any("python:3.12-slim" in tag for each in engine.images.list() for tag in each.tags)
        if not there:
            engine.images.get(found).tag("python", "3.12-slim")
        yield
        if not there:
            engine.images.remove("python:3.12-slim", noprune=True)


@pytest.mark.places
def test_docker(slim: None, tmp_path: Path) -> None:
    printed_by(source("docker"), tmp_path, "http://127.0.0.1:9/v1")
    walled = FIBONACCI.replace("print('DONE writing')", "import os; print('DONE in', sorted(os.environ))")
    printed, server = ran("fibonacci_docker", tmp_path, [walled, "It is verified. DONE"])
    with closing(import_module("docker").from_env()) as engine:
        there = engine.containers.list(all=True, ignore_removed=True, filters={"label": "autogen_nb=agent"})
        # Other tests have containers of their own.
        left = [each for each in there if str(tmp_path) in str(each.attrs.get("Mounts"))]

    assert (tmp_path / "output" / "fibonacci.txt").read_text() == NUMBERS
    assert "DONE in" in told(server, 1)
    assert "OPENAI_API_KEY" not in told(server, 1)
    assert "It is verified. DONE" in printed
    assert left == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "replies", "file"),
    [
        ("fibonacci", [FIBONACCI, "It is verified. DONE"], "fibonacci.txt"),
        ("sales", [SALES, "VERIFIED"], "sales.csv"),
        ("pytest_writer", [python(TESTS), RUN_TESTS, "PASS"], "test_discount.py"),
    ],
)
def test_in_a_notebook(
    name: str, replies: list[str], file: str, notebook: FrontEnd, model: FakeOpenAI, tmp_path: Path
) -> None:
    # A hint appears once in each session.
    notebook.run(f"%reload_ext autogen_nb\nimport os\nbefore = os.getcwd()\nos.chdir({str(tmp_path)!r})", "there")
    model.add(*replies)
    refused = notebook.run(source(name), "program")
    shown = notebook.run("await main()", "again")
    notebook.run("os.chdir(before)", "back")
    hints = [line for line in refused.text.splitlines() if line.startswith("In a notebook:")]

    assert refused.status == "error"
    assert hints == ["In a notebook: `await main()`."]
    assert shown.status == "ok", shown.error
    assert (tmp_path / "output" / file).exists()
    assert len(model.requests) == len(replies)
    assert shown.about("end") != []
    assert "<div" in shown.html()


@pytest.mark.slow
def test_an_executor_in_cells(notebook: FrontEnd, tmp_path: Path) -> None:
    made = notebook.run(
        "from autogen_nb.coding import CodeBlock, JupyterCodeExecutor\n"
        f"executor = JupyterCodeExecutor(work_dir={str(tmp_path)!r})\n"
        "executor.execute_code_blocks([CodeBlock(language='python', code='x = 6; print(x)')]).output"
    )
    awaited = notebook.run(
        "(await executor.execute_code_blocks([CodeBlock(language='python', code='print(x * 7)')], None)).output", "two"
    )
    stopped = notebook.run("executor.stop()", "three")
    again = notebook.run("await executor.stop()\nprint(executor.pid)", "four")

    assert [cell.status for cell in (made, awaited, stopped, again)] == ["ok"] * 4
    assert ("'6'" in str(made.outputs), "'42'" in str(awaited.outputs)) == (True, True)
    assert stopped.outputs == []
    assert again.text == "None\n"
