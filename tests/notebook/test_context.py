"""What a model gets of the notebook besides the task: cells above, and the project's instructions."""

import os
import re
from pathlib import Path

import pytest

from autogen_nb.notebook.context import Cell, context_of, read_instructions
from autogen_nb.testing import FakeOpenAI
from autogen_nb.trusted.known_secrets import typed_secrets
from tests.notebook.front_end import FrontEnd

KEY = "sk-proj-abcdefghijklmnop1234"


def test_cells_above_are_sent_and_shown_folded(front: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Six.\n\nTERMINATE", "Again.\n\nTERMINATE")
    front.run("prices = [1, 2]\nprint('two prices')", "prices")
    front.run("prices = [1, 2, 3]\nprint('three\\rThree prices')\nlen(prices)", "prices")
    front.run(f"client = dict(api_key='{KEY}')\nclient['api_key']", "key")
    front.run("1 / 0", "error")
    front.run("%autogen chats", "command")

    ran = front.run("%%autogen --context\nAdd up the prices.", "task")
    audited = front.run("%autogen audit --sent", "audit").text
    front.run("%%autogen And now?", "second")

    sent, second = ("\n".join(str(each["content"]) for each in of.body["messages"]) for of in model.requests)
    assert ran.about("context") == ["The assistant sees 3 cells above (about 83 tokens)."]
    assert "prices = [1, 2, 3]" in ran.html()
    for text in ("prices = [1, 2, 3]", "Out:\nThree prices\n3", "ZeroDivisionError: division by zero", "[api_key]"):
        assert text in sent
        assert " ".join(text.split()) in " ".join(audited.split())
    for text in ("two prices", KEY, "%autogen chats", "%%autogen"):
        assert text not in sent
    assert second.count("ZeroDivisionError") == 1
    assert "the cells above with short outputs" in ran.text


def test_context_is_off_and_offered_once(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add("Hello.\n\nTERMINATE", "Hello.\n\nTERMINATE")
    fresh.run("secret_plan = 1", "above")

    first, second = (fresh.run("%%autogen Hello.", cell) for cell in ("first", "second"))

    assert "secret_plan" not in str([request.body for request in model.requests])
    assert first.about("offer") == ["`--context` shows the cells above to the assistant, too."]
    assert second.about("offer") == []


def test_related_cells_come_first_and_all_fit() -> None:
    cells = [Cell(number, f"x_{number} = {'1' * 900}", "") for number in range(100)]
    cells[3] = Cell(3, "sales = load()", "rows" * 100)

    text, line = context_of(cells, {"sales"})

    assert text.index("sales = load()") < text.index("x_99 =")
    assert "x_98 =" in text
    assert "x_4 =" not in text
    assert len(text) < 17_000
    shown, left_out = map(int, re.findall(r"(\d+) (?:cells above|others are left out)", line))
    assert shown + left_out == 100
    assert context_of([], {"sales"})[0] == ""


SECRETS = {
    f"openai.api_key = '{KEY}'": KEY,
    "%env ANTHROPIC_API_KEY=sk-ant-0123456789abcdef": "sk-ant-0123456789abcdef",
    "os.environ['HF_TOKEN'] = \"hf_abcdefghijklmnopqrst\"": "hf_abcdefghijklmnopqrst",
    "headers = {'X-Auth-Token': 'a1b2c3d4e5f6a7b8c9'}": "a1b2c3d4e5f6a7b8c9",
    "create_engine('postgresql://me:hunter22@db/sales')": "hunter22",
    "boto3.client('s3', aws_access_key_id='AKIAIOSFODNN7EXAMPLE')": "AKIAIOSFODNN7EXAMPLE",
}
ORDINARY = (
    "pd.merge(left, right, left_on='country_code', right_on='iso_3166_alpha_2_code')",
    "frame.sort_values(key=lambda column: column.str.lower())",
    "tokens = tokenizer('a sentence of 12 words')",
    "url = 'https://example.org:8080/data@2024.csv'",
)


@pytest.mark.parametrize("source", SECRETS)
def test_typed_keys_are_found(source: str) -> None:
    assert list(typed_secrets(source)) == [SECRETS[source]]


@pytest.mark.parametrize("source", ORDINARY)
def test_ordinary_code_has_no_keys(source: str) -> None:
    assert typed_secrets(source) == {}


def test_instructions_of_the_project(fresh: FrontEnd, model: FakeOpenAI) -> None:
    model.add(*["Yes.\n\nTERMINATE"] * 4)
    file = fresh.cwd / "AGENTS.md"
    notes, systems = list[list[str]](), list[str]()
    for text in (f"Use polars.\nThe key is {KEY}.", f"Use polars.\nThe key is {KEY}.", "Use pandas.", None):
        file.unlink(missing_ok=True) if text is None else file.write_text(text)
        notes += [fresh.run("%%autogen --new\nHello.", f"cell {len(notes)}").about("instructions")]
        systems += [str(model.requests[-1].body["messages"][0]["content"])]

    assert notes == [
        ["The assistant follows the instructions in `AGENTS.md` (2 lines)."],
        [],
        ["The assistant now follows the instructions in `AGENTS.md` (1 line)."],
        ["There are no instructions of the project any more."],
    ]
    assert ["polars" in system for system in systems] == [True, True, False, False]
    assert ["pandas" in system for system in systems] == [False, False, True, False]
    assert KEY not in "".join(systems)


def test_nearest_instructions_come_last_and_end_at_the_repository(tmp_path: Path) -> None:
    folder = tmp_path / "repository" / "reports" / "june"
    folder.mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("Outside.")
    (folder.parent.parent / ".git").mkdir()
    (folder.parent.parent / "AGENTS.md").write_text("Of the repository.")
    (folder / "AGENTS.md").write_text("For other programs.")
    (folder / "AUTOGEN.md").write_bytes(b"Of this folder: \xff.")

    both = read_instructions(folder)

    assert both.text == "Of the repository.\n\nOf this folder: \ufffd."
    assert both.names == "`../../AGENTS.md`, `AUTOGEN.md`"
    assert read_instructions(tmp_path).text == "Outside."


def test_odd_files_are_no_instructions_or_are_cut(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "AGENTS.md")
    assert read_instructions(tmp_path).text == ""

    (tmp_path / "AUTOGEN.md").mkdir()
    assert read_instructions(tmp_path).text == ""

    (tmp_path / "AGENTS.md").unlink()
    (tmp_path / "AGENTS.md").write_text("x" * 10**6)
    assert len(read_instructions(tmp_path).text) == 32 * 1024
