"""What the analyst does when things go otherwise: failures, skipped blocks, edited blocks, files."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.models.offline.harness import Chat, ask, execute, with_frames

RAN = "exitcode: 0 (execution succeeded)\nCode output: "


def of(values: dict[str, list[Any]]) -> Chat:
    """A chat that has explored a frame of these columns."""
    frame = pd.DataFrame(values)
    chat = Chat({"df": frame})
    chat.say(with_frames("Explore", df=frame))
    return chat


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["31.12.2023", "01.02.2024"] * 10, "2023-12-31"),
        (["12/31/2023", "01/02/2024"] * 10, "2023-12-31"),
        (["01/02/2024", "31/12/2023"] * 10, "2024-02-01"),
        (["2023-12-31 10:00", "2024-02-01 11:00"] * 10, "2023-12-31"),
        (["2023-12-31", "31.12.2023", "2024/01/01"] * 10, "2023-12-31"),
        (["2023-12-31"] * 19 + ["unknown"], "2023-12-31"),
        (["02.03.2024"] * 19 + ["unknown"], "2024-03-02"),
        (["02.03.2024"] * 10 + ["unknown"] + ["2024-03-02"] * 9, "2024-03-02"),
        (["02/03/2024"] * 19 + ["unknown"], "2024-02-03"),
        (["2023-12-31T10:00:00+01:00", "2024-06-01T10:00:00+02:00"] * 10, "2023-12-31"),
    ],
    ids=[
        "german",
        "american",
        "british",
        "with time",
        "mixed",
        "one word",
        "german and one word",
        "german, a word, and ISO",
        "american and one word",
        "two zones",
    ],
)
def test_dates_in_many_writings_become_dates(texts: list[str], first: str) -> None:
    """Dates in text are dates after at most two repairs, whatever their writing."""
    chat = of({"day": texts, "n": list(range(len(texts)))})

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
    ids=["plain", "thousands", "decimal comma", "german", "symbols", "one word"],
)
def test_numbers_in_many_writings_become_numbers(texts: list[str], total: float) -> None:
    """Numbers in text are numbers after at most two repairs, and no value changes its size."""
    chat = of({"amount": texts, "kind": ["a", "b"] * 10})

    assert chat.namespace["df_clean"]["amount"].sum() == pytest.approx(total)


def test_step_is_given_up_after_two_repairs(weather: pd.DataFrame) -> None:
    """A step that keeps failing is tried three times at most, then left out, and the summary says so."""

    def react(code: str, namespace: dict[str, Any]) -> str:
        failing = "exitcode: 1 (execution failed)\nCode output: Traceback\nRuntimeError: no\n"
        return failing if code.startswith("# [clean]") else execute(code, namespace)

    chat = Chat({"weather": weather}, react)
    answer = chat.say(with_frames("Explore", weather=weather))

    assert 1 <= sum(block.startswith("# [clean]") for block in chat.blocks) <= 3
    assert "Given up after an error that I could not repair: the clean copy." in answer


def test_skipped_block_is_not_offered_again(weather: pd.DataFrame) -> None:
    """A block that the person skipped is left out, and the rest goes on without it."""

    def react(code: str, namespace: dict[str, Any]) -> str:
        skipped = "The code was not run.\nThe user skipped a block. The reason: none was given."
        return skipped if code.startswith("# [clean]") else execute(code, namespace)

    chat = Chat({"weather": weather}, react)
    answer = chat.say(with_frames("Explore", weather=weather))

    assert sum(block.startswith("# [clean]") for block in chat.blocks) == 1
    assert "Skipped by you: the clean copy." in answer
    assert "`temp_max` with `temp_min`" in answer


def test_everything_skipped_ends_in_words(penguins: pd.DataFrame) -> None:
    """Who skips every block gets an end in words, not the same block for ever."""
    chat = Chat(
        {"penguins": penguins}, lambda code, _: "The code was not run.\nThe user skipped a block. The reason: no."
    )
    answer = chat.say(with_frames("Explore", penguins=penguins))

    assert len(chat.blocks) == len(set(chat.blocks))
    assert "skipped" in answer.lower() or "nothing to report" in answer


def test_reason_for_skipping_steers_the_next_block(penguins: pd.DataFrame) -> None:
    """A reason that names other columns leads to a block about those."""

    def react(code: str, namespace: dict[str, Any]) -> str:
        skipped = "The code was not run.\nThe user skipped a block. The reason: rather by island."
        wrong = code.startswith("# [answer]") and "island" not in code
        return skipped if wrong else execute(code, namespace)

    answer = Chat({"penguins": penguins}, react).say(with_frames("body mass by species", penguins=penguins))

    assert "By `island`, `Biscoe` has the highest mean `body_mass_g`" in answer


@pytest.mark.parametrize(
    "output",
    [
        "",
        "hello",
        "facts look: nonsense",
        'facts look: {"rows": []}',
        'facts look: {"rows":1,"width":1,"odd_names":0,"columns":[[1]]}',
    ],
)
def test_output_of_another_shape_is_survived(output: str, penguins: pd.DataFrame) -> None:
    """Blocks may have been edited: output without the expected facts does not stop the analysis from ending."""
    chat = Chat({"penguins": penguins}, lambda code, _: f"{RAN}{output}")

    assert chat.say(with_frames("Explore", penguins=penguins))


@pytest.mark.parametrize(
    "topic", ["clean", "overview", "numbers", "counts", "compare", "groups", "scores", "pairs", "trend"]
)
@pytest.mark.parametrize(
    "value", ["[]", "{}", "null", "3", '{"columns":[1],"index":[1],"data":[[null]]}', '{"measures":{"x":1}}']
)
def test_facts_of_another_shape_are_survived(topic: str, value: str, weather: pd.DataFrame) -> None:
    """Facts of any shape are read defensively."""

    def react(code: str, namespace: dict[str, Any]) -> str:
        return f"{execute(code, namespace)}\nfacts {topic}: {value}\n"

    assert Chat({"weather": weather}, react).say(with_frames("Explore", weather=weather))


def test_lost_copy_is_made_again(weather: pd.DataFrame) -> None:
    """When the kernel has lost the clean copy, the next block makes it again."""
    chat = Chat({"weather": weather})
    chat.say(with_frames("Explore", weather=weather))
    del chat.namespace["weather_clean"]
    answer = chat.say("wind by weather")

    assert "`weather` explains" in answer


def test_missing_library_is_named_with_the_way_to_install_it(penguins: pd.DataFrame) -> None:
    """Without pandas the analysis ends, and says how to install it."""
    failing = "exitcode: 1 (execution failed)\nCode output: ModuleNotFoundError: No module named 'pandas'"
    answer = Chat({"penguins": penguins}, lambda code, _: failing).say(with_frames("Explore", penguins=penguins))

    assert "`pip install pandas`" in answer


def test_missing_matplotlib_keeps_the_findings(penguins: pd.DataFrame) -> None:
    """Without matplotlib the findings are told all the same."""

    def react(code: str, namespace: dict[str, Any]) -> str:
        failing = "exitcode: 1 (execution failed)\nCode output: ModuleNotFoundError: No module named 'matplotlib'"
        return failing if "matplotlib" in code else execute(code, namespace)

    answer = Chat({"penguins": penguins}, react).say(with_frames("body mass by species", penguins=penguins))

    assert "`pip install matplotlib`" in answer
    assert "`Gentoo` has the highest" in answer


def test_nothing_to_work_on_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a frame and without a file the reply says how to go on."""
    monkeypatch.chdir(tmp_path)

    assert "Hand over a DataFrame" in Chat().say("What is in my data?")


def test_only_file_of_the_folder_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that lies alone in the working folder is taken."""
    (tmp_path / "sales.csv").write_text("city,amount\nA,1\nB,2\nA,4\nB,3\n")
    monkeypatch.chdir(tmp_path)

    assert "`sales.csv` has 4 rows and 2 columns" in Chat().say("Explore my data")


def test_person_is_asked_which_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several files the one is taken that the person then names."""
    for name in ("one.csv", "other.csv"):
        (tmp_path / name).write_text("city,amount\nA,1\nB,2\nA,4\n")
    monkeypatch.chdir(tmp_path)
    chat = Chat()

    assert "Which one shall I take?" in chat.say("Explore")
    assert "`other.csv` has 3 rows" in chat.say("other.csv please")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", b"city,amount\nA,1\nB,2\nA,4\n"),
        ("semicolon.csv", b"city;amount\nA;1,5\nB;2,5\nA;4,0\n"),
        ("latin.csv", "city;amount\nMünchen;1\nKöln;2\nMünchen;4\n".encode("cp1252")),
        ("wide.csv", "city,amount\nA,1\nB,2\nA,4\n".encode("utf-16")),
        ("tab.tsv", b"city\tamount\nA\t1\nB\t2\nA\t4\n"),
        ("records.json", b'[{"city":"A","amount":1},{"city":"B","amount":2},{"city":"A","amount":4}]'),
        ("lines.jsonl", b'{"city":"A","amount":1}\n{"city":"B","amount":2}\n{"city":"A","amount":4}\n'),
        ("lines.json", b'{"city":"A","amount":1}\n{"city":"B","amount":2}\n{"city":"A","amount":4}\n'),
        ("it's odd [1].csv", b"city,amount\nA,1\nB,2\nA,4\n"),
    ],
)
def test_files_of_many_kinds_are_read(name: str, content: bytes, tmp_path: Path) -> None:
    """A file is read whatever its separator, encoding or format."""
    path = tmp_path / name
    path.write_bytes(content)

    assert "has 3 rows and 2 columns" in Chat().say(f'Explore "{path}"')


@pytest.mark.parametrize(("content", "told"), [(b"", "is empty"), (None, "could not open")], ids=["empty", "absent"])
def test_file_without_a_table_is_told(content: bytes | None, told: str, tmp_path: Path) -> None:
    """A file that is empty or not there ends the analysis in words."""
    path = tmp_path / "some.csv"
    path.write_bytes(content or b"")
    path = path if content is not None else tmp_path / "none.csv"

    assert told in Chat().say(f"Explore '{path}'")


def test_empty_conversation_gets_a_reply() -> None:
    """A request without any task is answered by looking for files."""
    assert "# [find]" in ask([{"role": "system", "content": ""}])


def test_lines_of_another_model_are_no_steps_of_ours(penguins: pd.DataFrame) -> None:
    """After another model's turns the analyst introduces itself and begins with a look."""
    messages = [
        {"role": "user", "content": with_frames("Explore", penguins=penguins)},
        {"role": "assistant", "content": "```python\nprint(1)\n```"},
        {"role": "user", "content": RAN + "1"},
    ]
    reply = ask(messages)

    assert reply.startswith("I am the offline analyst")
    assert "# [look]" in reply
