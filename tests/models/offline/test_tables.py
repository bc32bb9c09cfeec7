import pandas as pd
import pytest

from autogen_nb.core.analysis import asks
from autogen_nb.messages import CodeBlock
from tests.models.offline.harness import Chat, steps, with_frames


@pytest.mark.parametrize(
    ("task", "told", "blocks"),
    [
        ("Compare body mass by species. Plot it.", "`Gentoo` has the highest mean `body_mass_g`: 5,076.02", ["groups"]),
        ("Which species is heaviest?", "`Gentoo` has the highest mean `body_mass_g`: 5,076.02", ["groups"]),
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


def test_time_is_told_by_the_unit_that_was_asked_for(weather: pd.DataFrame) -> None:
    answer = Chat({"weather": weather}).say(with_frames("Total precipitation per year", weather=weather))
    yearly = weather.groupby(weather["date"].str[:4])["precipitation"].sum()

    assert f"`precipitation`, total by year: {yearly['2012']:,.2f} in 2012" in answer


def test_words_that_are_not_understood_are_named(weather: pd.DataFrame) -> None:
    chat = Chat({"weather": weather})
    answer = chat.say(with_frames("Which month has the most rain?", weather=weather))

    assert steps(chat) == ["look", "trend"]
    assert "`precipitation`, mean by month" in answer
    assert "Not understood in your task: `rain`." in answer


def test_plot_alone_means_what_was_asked_before(penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins})
    chat.say(with_frames("body mass by island, no plots", penguins=penguins))
    chat.say("Thanks!")
    assert chat.pictures == 0
    chat.say("Plot it.")

    assert steps(chat) == ["look", "groups", "groups"]
    assert chat.pictures == 1


def test_words_that_ask_nothing_get_no_block(penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins})
    chat.say(with_frames("Explore", penguins=penguins))
    before = len(chat.blocks)
    answer = chat.say("Thanks!")

    assert len(chat.blocks) == before
    assert "I find neither a column nor an analysis in your words" in answer


def test_no_block_is_risky(weather: pd.DataFrame) -> None:
    chat = Chat({"weather": weather})
    chat.say(with_frames("Explore", weather=weather))

    assert [block for block in chat.blocks if asks("risky", CodeBlock("python", block)) is not None] == []
