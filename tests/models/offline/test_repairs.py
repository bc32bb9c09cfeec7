from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.models.offline.harness import Chat, ask, execute, steps, with_frames

RAN = "exitcode: 0 (execution succeeded)\nCode output: "
NOT_WHOLE = "This answer is incomplete"
SKIPPED = "The code was not run.\nThe user skipped a block. The reason: "


def test_a_block_that_fails_is_reported_and_left_out(weather: pd.DataFrame) -> None:
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


def test_everything_skipped_ends_in_words(penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins}, lambda _code, _namespace: f"{SKIPPED}no.")

    assert "The block that reads `penguins` did not run" in chat.say(with_frames("Explore", penguins=penguins))
    assert steps(chat) == ["look"]


def test_the_reason_for_skipping_steers_the_next_block(penguins: pd.DataFrame) -> None:
    def react(code: str, namespace: dict[str, Any]) -> str:
        wrong = code.startswith("# [groups]") and "island" not in code
        return f"{SKIPPED}rather body mass by island." if wrong else execute(code, namespace)

    answer = Chat({"penguins": penguins}, react).say(with_frames("body mass by species", penguins=penguins))

    assert "By `island`, `Biscoe` has the highest mean `body_mass_g`" in answer


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


def test_nothing_to_work_on_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert "Hand over a DataFrame" in Chat().say("What is in my data?")


def test_the_person_is_asked_which_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one.csv", "other.csv"):
        (tmp_path / name).write_text("city,amount\nA,1\nB,2\nA,4\n")
    monkeypatch.chdir(tmp_path)
    chat = Chat()

    assert "I found 2 files: `one.csv` and `other.csv`" in chat.say("Explore")
    assert "`other.csv` has 3 rows" in chat.say("other.csv please")


def test_blocks_of_another_model_are_not_taken_for_its_own(penguins: pd.DataFrame) -> None:
    messages = [
        {"role": "user", "content": with_frames("Explore", penguins=penguins)},
        {"role": "assistant", "content": "```python\nprint(1)\n```"},
        {"role": "user", "content": RAN + "1"},
    ]
    reply = ask(messages)

    assert reply.startswith("I am the offline analyst")
    assert "# [look]" in reply


@pytest.mark.parametrize(
    ("task", "told", "blocks"),
    [
        ("Compare body mass by species. Plot it.", "`Gentoo` has the highest mean `body_mass_g`: 5,076.02", ["groups"]),
        ("Which species is heaviest?", "`Gentoo` has the highest mean `body_mass_g`: 5,076.02", ["groups"]),
        ("Which species has the longest flippers?", "the highest mean `flipper_length_mm`: 217.19", ["groups"]),
        ("Are birds lighter on some island?", "`Torgersen` has the lowest: 3,706.37", ["groups"]),
        ("median bill length by sex", "`male` has the highest median `bill_length_mm`: 46.80", ["groups"]),
        ("body_mass_g by year", "By `year`, `2008` has the highest mean `body_mass_g`", ["groups"]),
        ("What is missing?", "Missing in `sex`: 11 values (3.2%)", ["missing"]),
        ("Are the numbers correlated?", "Correlation of `flipper_length_mm` with `body_mass_g`", ["correlation"]),
        ("bill length and bill depth", "`bill_length_mm` with `bill_depth_mm`: r = -0.24 (weak)", ["correlation"]),
        ("How many penguins by island?", "`island` is `Biscoe` in 168 rows (49%)", ["count"]),
        ("Distribution of body mass", "`body_mass_g`: mean 4,201.75, median 4,050.00", ["distribution"]),
        ("The trend of body mass over time", "These columns allow no trend.", []),
    ],
)
def test_words_choose_the_analysis(task: str, told: str, blocks: list[str], penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins})
    answer = chat.say(with_frames(task, penguins=penguins))

    assert told in answer
    assert steps(chat) == ["look", *blocks]


@pytest.mark.parametrize(
    "words", ["Which species is heaviest?", "heavier: which species?", "Do species differ in how much they weigh?"]
)
def test_adjectives_name_the_column_that_they_compare(words: str, penguins: pd.DataFrame) -> None:
    answer = Chat({"penguins": penguins}).say(with_frames(words, penguins=penguins))

    assert "`Gentoo` has the highest mean `body_mass_g`" in answer
    assert "flipper" not in answer
    assert "Not understood" not in answer


def test_an_adjective_without_a_column_is_not_understood(weather: pd.DataFrame) -> None:
    answer = Chat({"weather": weather}).say(with_frames("Which weather is heaviest?", weather=weather))

    assert "Not understood in your task: `heaviest`." in answer


CONVERTED = "city;price\nA;1,5\nB;2,5\nA;4,25\n"


@pytest.mark.parametrize(
    ("text", "told", "blocks"),
    [
        ("city,price\nA,1.5\nB,2.5\nA,4.5\n", "3 rows and 2 columns", ["look", "groups"]),
        (CONVERTED, "`price` was converted from text to number", ["look", "types", "groups"]),
        (f"Prices, of 2025\nSource: a\n\n{CONVERTED}", "3 rows and 2 columns", ["look", "types", "groups"]),
        ("# a comment\ncity,price\nA,1\nB,2\nB,3\n", "3 rows and 2 columns", ["look", "groups"]),
        ('city,price\n"A, B",1\n"C, D",2\n"C, D",3\n"A, B",4\n', "4 rows and 2 columns", ["look", "groups"]),
        ("city\tprice\nA 1\t€1.50\nB 2\t€2\nB 2\t€3\n", "converted from text", ["look", "types", "groups"]),
    ],
)
def test_files_as_programs_write_them(
    text: str, told: str, blocks: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prices.csv").write_text(text)
    monkeypatch.chdir(tmp_path)
    chat = Chat()
    answer = chat.say("price by city in prices.csv")

    assert told in answer
    assert steps(chat) == blocks
    assert "has the highest mean `price`" in answer


def test_the_first_block_has_at_most_forty_lines(penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins})
    chat.say(with_frames("Explore", penguins=penguins))

    assert len(chat.blocks[0].splitlines()) <= 40


def test_plot_alone_means_what_was_asked_before(penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins})
    chat.say(with_frames("body mass by island, no plots", penguins=penguins))
    chat.say("Thanks!")
    assert chat.pictures == 0
    chat.say("Plot it.")

    assert steps(chat) == ["look", "groups", "groups"]
    assert chat.pictures == 1
