"""What the analyst does when things go otherwise: odd values, failures, skipped blocks, edited blocks, files."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.models.offline.harness import SHOWN, Chat, ask, execute, steps, with_frames

RAN = "exitcode: 0 (execution succeeded)\nCode output: "
NOT_WHOLE = "This answer is not whole"
SKIPPED = "The code was not run.\nThe user skipped a block. The reason: "


def looked_at(values: dict[str, list[Any]]) -> Chat:
    """A chat that has looked at a table of these columns."""
    chat = Chat({"df": pd.DataFrame(values)})
    chat.say(with_frames("What is missing?", df=chat.namespace["df"]))
    return chat


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["31.12.2023", "01.02.2024"] * 10, "2023-12-31"),
        (["12/31/2023", "01/02/2024"] * 10, "2023-12-31"),
        (["01/02/2024", "31/12/2023"] * 10, "2024-02-01"),
        (["2/28/24", "12/31/23"] * 10, "2/28/24"),
        (["2023-12-31 10:00", "2024-02-01 11:00"] * 10, "2023-12-31"),
        (["2023-12-31", "31.12.2023", "2024/01/01"] * 10, "2023-12-31"),
        (["2023-12-31"] * 19 + ["unknown"], "2023-12-31"),
        (["02.03.2024"] * 10 + ["unknown"] + ["2024-03-02"] * 9, "2024-03-02"),
        (["02/03/2024"] * 19 + ["unknown"], "2024-02-03"),
        (["2023-12-31T10:00:00+01:00", "2024-06-01T10:00:00+02:00"] * 10, "2023-12-31"),
    ],
    ids=["German", "American", "British", "two digits", "time", "several", "a word", "German, ISO", "either", "zones"],
)
def test_dates_in_many_writings_become_dates(texts: list[str], first: str) -> None:
    chat = looked_at({"day": texts, "n": list(range(len(texts)))})

    assert str(chat.namespace["df_clean"]["day"].iloc[0])[:10] == first


@pytest.mark.parametrize(
    ("texts", "total"),
    [
        (["1", "2.5"] * 10, 35),
        (["1,200.5", "2,000"] * 10, 32_005),
        (["3,5", "1,25"] * 10, 47.5),
        (["1.200,50", "3,5"] * 10, 12_040),
        (["$5", "7 %"] * 10, 120),
        (["4"] * 19 + ["none"], 76),
    ],
    ids=["plain", "thousands", "decimal comma", "German", "symbols", "a word"],
)
def test_numbers_in_many_writings_become_numbers(texts: list[str], total: float) -> None:
    chat = looked_at({"amount": texts, "kind": ["a", "b"] * 10})

    assert chat.namespace["df_clean"]["amount"].sum() == pytest.approx(total)


def test_values_that_cannot_be_read_are_told() -> None:
    chat = Chat({"df": pd.DataFrame({"n": ["4"] * 19 + ["none"], "m": ["4", "none"] * 10})})
    answer = chat.say(with_frames("What is missing?", df=chat.namespace["df"]))

    assert (
        "`n` came as text and is now number.\n- Of `n`, 1 value could not be taken as a number and became missing."
        in answer
    )
    assert list(chat.namespace["df_clean"]["m"].unique()) == ["4", "none"]


def test_a_block_that_fails_is_told_and_left_out(weather: pd.DataFrame) -> None:
    def react(code: str, namespace: dict[str, Any]) -> str:
        failing = "exitcode: 1 (execution failed)\nCode output: Traceback\nRuntimeError: no\n"
        return failing if code.startswith("# [groups]") else execute(code, namespace)

    chat = Chat({"weather": weather}, react)
    answer = chat.say(with_frames("Explore", weather=weather))

    assert steps(chat) == ["look", "distribution", "groups", "correlation", "trend"]
    assert "That failed: `RuntimeError`: `no`." in chat.text
    assert "Left out: `groups` (`RuntimeError`: `no`)." in answer
    assert NOT_WHOLE in answer
    assert chat.finish_reason == "incomplete"


def test_a_plot_that_is_not_shown_is_told(weather: pd.DataFrame) -> None:
    def react(code: str, namespace: dict[str, Any]) -> str:
        report = execute(code, namespace)
        return report.replace(SHOWN, "") if "# [groups]" in code else report

    chat = Chat({"weather": weather}, react)
    answer = chat.say(with_frames("Explore", weather=weather))
    lacking = chat.finish_reason
    chat.react = execute
    again = chat.say("Compare the wind by weather and plot it")

    assert "Computed, but not shown as a plot: `groups`." in answer
    assert NOT_WHOLE in answer
    assert lacking == "incomplete"
    assert NOT_WHOLE not in again
    assert chat.finish_reason == "stop"


def test_a_table_that_cannot_be_read_is_no_whole_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    chat = Chat()

    assert "I could not read `gone.csv`" in chat.say("Explore gone.csv")
    assert chat.finish_reason == "incomplete"


def test_a_skipped_block_is_not_offered_again(weather: pd.DataFrame) -> None:
    def react(code: str, namespace: dict[str, Any]) -> str:
        return f"{SKIPPED}none was given." if code.startswith("# [groups]") else execute(code, namespace)

    chat = Chat({"weather": weather}, react)
    answer = chat.say(with_frames("Explore", weather=weather))

    assert steps(chat) == ["look", "distribution", "groups", "correlation", "trend"]
    assert "Skipped by you: `groups`." in answer
    assert NOT_WHOLE not in answer
    assert chat.finish_reason == "stop"


def test_everything_skipped_ends_in_words(penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins}, lambda _code, _namespace: f"{SKIPPED}no.")

    assert "Without a look at `penguins`" in chat.say(with_frames("Explore", penguins=penguins))
    assert steps(chat) == ["look"]


def test_the_reason_for_skipping_steers_the_next_block(penguins: pd.DataFrame) -> None:
    def react(code: str, namespace: dict[str, Any]) -> str:
        wrong = code.startswith("# [groups]") and "island" not in code
        return f"{SKIPPED}rather body mass by island." if wrong else execute(code, namespace)

    answer = Chat({"penguins": penguins}, react).say(with_frames("body mass by species", penguins=penguins))

    assert "By `island`, `Biscoe` has the highest mean `body_mass_g`" in answer


def test_an_edited_block_is_taken_as_it_ran(penguins: pd.DataFrame) -> None:
    def react(code: str, namespace: dict[str, Any]) -> str:
        edited = (
            code.replace("frame = penguins", "frame = penguins.head(100); found = penguins")
            if "[look]" in code
            else code
        )
        note = f"\nThe user changed the code before it ran. This is what ran:\n{edited}" if edited != code else ""
        return execute(edited, namespace) + note

    chat = Chat({"penguins": penguins}, react)
    answer = chat.say(with_frames("Explore", penguins=penguins))
    assert "`penguins` has 100 rows" in answer
    del chat.namespace["penguins_clean"]
    chat.say("body mass by island")

    assert steps(chat)[-3:] == ["groups", "look", "groups"]
    assert len(chat.namespace["penguins_clean"]) == 100


@pytest.mark.parametrize(
    "output",
    [
        "",
        "hello",
        "facts: nonsense",
        'facts: {"rows": []}\nFindings:',
        'facts: {"rows": 3, "width": 1, "complete": 3, "repeated": 0, "columns": [[1]]}',
        'facts: {"rows": 9, "width": 1, "complete": 3, "repeated": 0, "columns": [["a", "x", "number", 0, 3, 0]]}',
        "Findings:\n- `\n- ``` `a` ![x](http://e.vil)",
    ],
)
def test_output_of_another_shape_is_survived(output: str, penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins}, lambda _code, _namespace: f"{RAN}{output}")

    assert chat.say(with_frames("Explore", penguins=penguins))


def test_a_table_that_the_kernel_lost_is_asked_for(penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins})
    chat.say(with_frames("Explore", penguins=penguins))
    chat.namespace.clear()

    assert "Hand it over again" in chat.say("body mass by island")


def test_a_missing_library_is_named_with_the_way_to_install_it(penguins: pd.DataFrame) -> None:
    failing = "exitcode: 1 (execution failed)\nCode output: ModuleNotFoundError: No module named 'pandas'"
    answer = Chat({"penguins": penguins}, lambda *_: failing).say(with_frames("Explore", penguins=penguins))

    assert "Install it with `pip install pandas`" in answer


def test_nothing_to_work_on_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert "Hand over a DataFrame" in Chat().say("What is in my data?")


def test_the_only_file_of_the_folder_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sales.csv").write_text("city,amount\nA,1\nB,2\nA,4\nB,3\n")
    monkeypatch.chdir(tmp_path)

    assert "`sales.csv` has 4 rows and 2 columns" in Chat().say("Explore my data")


def test_the_person_is_asked_which_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one.csv", "other.csv"):
        (tmp_path / name).write_text("city,amount\nA,1\nB,2\nA,4\n")
    monkeypatch.chdir(tmp_path)
    chat = Chat()

    assert "I found 2 files: `one.csv` and `other.csv`" in chat.say("Explore")
    assert "`other.csv` has 3 rows" in chat.say("other.csv please")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", b"city,amount\nA,1\nB,2\nA,4\n"),
        ("semicolon.csv", b"city;amount\nA;1,5\nB;2,5\nA;4,0\n"),
        ("latin.csv", "city;amount\nMünchen;1\nKöln;2\nMünchen;4\n".encode("cp1252")),
        ("wide.csv", "city,amount\nA,1\nB,2\nA,4\n".encode("utf-16")),
        ("ragged.csv", b"city|amount\nA|1\nB|2\nA|4\nC|5|6|7\n"),
        ("ragged latin.csv", "city,amount\nKöln,1\nB,2,3\nKöln,2\nB,4\n".encode("cp1252")),
        ("open quote.csv", b'city,amount\nA,1\nB,2\nA,4\nB,"5\n'),
        ("tab.tsv", b"city\tamount\nA\t1\nB\t2\nA\t4\n"),
        ("commas.tsv", b"city, state, land\tamount\nA\t1\nB\t2\nA\t4\n"),
        ("records.json", b'[{"city":"A","amount":1},{"city":"B","amount":2},{"city":"A","amount":4}]'),
        ("lines.jsonl", b'{"city":"A","amount":1}\n{"city":"B","amount":2}\n{"city":"A","amount":4}\n'),
        ("lines.json", b'{"city":"A","amount":1}\n{"city":"B","amount":2}\n{"city":"A","amount":4}\n'),
        ("latin.json", '[{"city":"Köln","amount":1},{"city":"B","amount":2},{"city":"B","amount":4}]'.encode("cp1252")),
        ("it's odd [1].csv", b"city,amount\nA,1\nB,2\nA,4\n"),
        ("columns.parquet", None),
    ],
)
def test_files_of_many_kinds_are_read(name: str, content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is None:
        pd.DataFrame({"city": list("ABA"), "amount": [1, 2, 4]}).to_parquet(path)
    else:
        path.write_bytes(content)

    assert "has 3 rows and 2 columns (1 of numbers, 1 of text or categories)" in Chat().say(f'Explore "{path}"')


def test_one_line_of_json_is_one_row(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(b'{"city":["A","B"],"amount":[1,2]}\n')

    assert "has 1 row and 2 columns" in Chat().say(f"Explore '{path}'")


@pytest.mark.parametrize(
    ("content", "error"), [(b"", "EmptyDataError"), (None, "FileNotFoundError")], ids=["empty", "absent"]
)
def test_a_file_without_a_table_is_told(content: bytes | None, error: str, tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    if content is not None:
        path.write_bytes(content)

    assert f": `{error}`" in Chat().say(f"Explore '{path}'")


def test_an_empty_conversation_gets_a_reply() -> None:
    assert "# [find]" in ask([{"role": "system", "content": ""}])


def test_blocks_of_another_model_are_not_taken_for_its_own(penguins: pd.DataFrame) -> None:
    messages = [
        {"role": "user", "content": with_frames("Explore", penguins=penguins)},
        {"role": "assistant", "content": "```python\nprint(1)\n```"},
        {"role": "user", "content": RAN + "1"},
    ]
    reply = ask(messages)

    assert reply.startswith("I am the offline analyst")
    assert "# [look]" in reply
