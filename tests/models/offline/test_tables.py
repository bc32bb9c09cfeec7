"""What the analyst tells about the two tables of the project, against numbers that pandas gives here."""

import pandas as pd
import pytest

from autogen_nb.core.analysis import asks
from autogen_nb.messages import CodeBlock
from autogen_nb.models.offline.model import INTRODUCTION
from tests.models.offline.harness import Chat, steps, with_frames


def test_the_first_reply_says_what_it_is(penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins})
    chat.say(with_frames("Explore this.", penguins=penguins))

    assert chat.replies[0].splitlines()[0] == INTRODUCTION
    assert [INTRODUCTION in reply for reply in chat.replies[1:]] == [False] * (len(chat.replies) - 1)


def test_a_table_is_explored_in_four_blocks(penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins})
    answer = chat.say(with_frames("What stands out?", penguins=penguins))
    means = penguins.groupby("species")["flipper_length_mm"].mean()
    r = penguins["flipper_length_mm"].corr(penguins["body_mass_g"])

    assert steps(chat) == ["look", "distribution", "groups", "correlation"]
    assert chat.pictures == 3
    assert "`penguins` has 344 rows and 8 columns (5 of numbers, 3 of text or categories)" in answer
    assert (
        f"{len(penguins.dropna())} of 344 rows are complete and 0 repeated; most values are missing in `sex` (11)"
        in answer
    )
    assert f"`body_mass_g`: mean {penguins['body_mass_g'].mean():,.2f}" in answer
    assert f"`Gentoo` has the highest mean `flipper_length_mm`: {means.max():.2f}" in answer
    assert f"`flipper_length_mm` with `body_mass_g`: r = {r:+.2f} (strong)" in answer


def test_what_holds_one_value_is_told() -> None:
    table = pd.DataFrame({"year": [2024] * 9, "unit": ["kg"] * 9, "void": [None] * 9})
    chat = Chat({"table": table})
    answer = chat.say(with_frames("What stands out?", table=table))

    assert "There is only one value in `year` and `unit`." in answer
    assert "Not looked into: `void`." in answer


def test_a_table_with_dates_is_followed_over_time(weather: pd.DataFrame) -> None:
    chat = Chat({"weather": weather})
    answer = chat.say(with_frames("What stands out?", weather=weather))
    yearly = weather.groupby(weather["date"].str[:4])["temp_max"].mean()
    low, high = weather["wind"].quantile([0.25, 0.75])
    outside = (weather["wind"] < low - 1.5 * (high - low)) | (weather["wind"] > high + 1.5 * (high - low))

    assert steps(chat)[-1] == "trend"
    assert "`date` came as text and is now date." in answer
    assert f"{outside.sum()} outliers" in answer
    assert f"`temp_max`, mean by year: {yearly.iloc[0]:.2f} in 2012, {yearly.iloc[-1]:.2f} in 2015" in answer


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


def test_a_follow_up_computes_only_what_it_asks_for(weather: pd.DataFrame) -> None:
    chat = Chat({"weather": weather})
    chat.say(with_frames("Explore", weather=weather))
    before, pictures = len(chat.blocks), chat.pictures
    answer = chat.say("And the maximum wind by weather?")

    assert steps(chat)[before:] == ["groups"]
    assert chat.pictures == pictures
    assert f"has the highest maximum `wind`: {weather['wind'].max():.2f}" in answer


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


def test_the_table_of_the_person_is_not_changed(weather: pd.DataFrame) -> None:
    before = weather.copy()
    Chat({"weather": weather}).say(with_frames("Explore", weather=weather))

    pd.testing.assert_frame_equal(weather, before)


def test_only_the_summary_ends_the_chat(penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins})
    answer = chat.say(with_frames("Explore", penguins=penguins))

    assert answer.endswith("\n\nTERMINATE")
    assert "```" not in answer
    assert [reply for reply in chat.replies[:-1] if "TERMINATE" in reply] == []


def test_the_same_messages_give_the_same_conversation(weather: pd.DataFrame) -> None:
    chats = [Chat({"weather": weather.copy()}) for _ in range(2)]
    for chat in chats:
        chat.say(with_frames("Explore", weather=weather))

    assert chats[0].text == chats[1].text


def test_no_block_is_risky(weather: pd.DataFrame) -> None:
    chat = Chat({"weather": weather})
    chat.say(with_frames("Explore", weather=weather))

    assert [block for block in chat.blocks if asks("risky", CodeBlock("python", block)) is not None] == []
