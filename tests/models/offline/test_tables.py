"""What the analyst tells about the two tables of the project, against numbers that pandas gives here."""

import pandas as pd
import pytest

from autogen_nb.models.offline.conversation import INTRODUCTION
from tests.models.offline.harness import Chat, with_frames


def steps(chat: Chat) -> list[str]:
    """The steps of the blocks, in order."""
    return [block.split("]")[0].removeprefix("# [") for block in chat.blocks]


def test_first_line_says_what_it_is(penguins: pd.DataFrame) -> None:
    """The first line of a conversation says that no language model speaks, and later replies do not repeat it."""
    chat = Chat({"penguins": penguins})
    chat.say(with_frames("Explore this.", penguins=penguins))

    replies = [m["content"] for m in chat.messages if m["role"] == "assistant"]
    assert replies[0].splitlines()[0] == INTRODUCTION
    assert [INTRODUCTION in reply for reply in replies[1:]] == [False] * (len(replies) - 1)


def test_heaviest_species_is_answered_with_its_mean(penguins: pd.DataFrame) -> None:
    """A question about a group is answered with the group and its mean."""
    chat = Chat({"penguins": penguins})
    answer = chat.say(with_frames("Which species is heaviest? Plot body mass by species.", penguins=penguins))
    means = penguins.groupby("species")["body_mass_g"].mean()

    assert f"`{means.idxmax()}` has the highest mean `body_mass_g`: {means.max():,.0f}" in answer
    assert steps(chat) == ["look", "profile", "answer", "plot"]
    assert "boxplot" in chat.blocks[-1]


def test_lowest_group_comes_first_when_asked_for(penguins: pd.DataFrame) -> None:
    """Who asks for the lightest is told of the lowest mean first."""
    answer = Chat({"penguins": penguins}).say(with_frames("Which island has the lightest penguins?", penguins=penguins))
    means = penguins.groupby("island")["body_mass_g"].mean()

    assert f"`{means.idxmin()}` has the lowest mean `body_mass_g`: {means.min():,.0f}" in answer


def test_value_of_a_category_points_at_its_column(penguins: pd.DataFrame) -> None:
    """A value that the task names, such as a species, tells by which column to compare."""
    answer = Chat({"penguins": penguins}).say(with_frames("How heavy are Gentoo penguins?", penguins=penguins))

    assert "By `species`, `Gentoo`" in answer


def test_overview_tells_the_strongest_correlation(penguins: pd.DataFrame) -> None:
    """Without a question the summary tells sizes, gaps, the groups that tell most and the strongest correlation."""
    chat = Chat({"penguins": penguins})
    answer = chat.say(with_frames("Have a look", penguins=penguins))
    r = penguins["flipper_length_mm"].corr(penguins["body_mass_g"])

    assert f"`flipper_length_mm` with `body_mass_g`, r = {r:+.2f}" in answer
    assert "344 rows and 8 columns" in answer
    assert f"{len(penguins.dropna())} of 344 rows are complete" in answer
    assert 4 <= len(chat.blocks) <= 6


def test_temperature_over_the_years_is_followed_and_drawn(weather: pd.DataFrame) -> None:
    """A question about change over time is answered with the means of the years, and drawn over time."""
    chat = Chat({"weather": weather})
    answer = chat.say(with_frames("How did temperature change over the years?", weather=weather))
    yearly = weather.groupby(weather["date"].str[:4])["temp_max"].mean()

    assert f"from {yearly.iloc[0]:.2f} in `2012` to {yearly.iloc[-1]:.2f} in `2015`" in answer
    assert "resample(step)" in chat.blocks[-1]
    assert "temp_max" in chat.blocks[-1]


def test_slash_dates_are_repaired_from_the_traceback(weather: pd.DataFrame) -> None:
    """Dates that are not ISO fail strictly, and the next block has the format of the value in the traceback."""
    chat = Chat({"weather": weather})
    answer = chat.say(with_frames("Explore", weather=weather))

    assert steps(chat)[1:3] == ["clean", "clean"]
    assert 'format="%Y-%m-%d"' in chat.blocks[1]
    assert 'format="%Y/%m/%d"' in chat.blocks[2]
    assert "`date` now holds dates, without losing a value" in answer


def test_outliers_are_counted_by_the_interquartile_range(weather: pd.DataFrame) -> None:
    """The outliers in the summary are those beyond 1.5 times the interquartile range."""
    answer = Chat({"weather": weather}).say(with_frames("Explore", weather=weather))
    low, high = weather["wind"].quantile([0.25, 0.75])
    outside = (weather["wind"] < low - 1.5 * (high - low)) | (weather["wind"] > high + 1.5 * (high - low))

    assert f"`wind` {outside.sum()}" in answer


def test_frame_of_the_person_is_not_changed(weather: pd.DataFrame) -> None:
    """The analysis works on a copy: the frame that was handed over stays as it was."""
    before = weather.copy()
    Chat({"weather": weather}).say(with_frames("Explore", weather=weather))

    pd.testing.assert_frame_equal(weather, before)


def test_summary_has_no_block_and_no_stop_word(penguins: pd.DataFrame) -> None:
    """The last reply holds neither a block nor a word that ends chats."""
    answer = Chat({"penguins": penguins}).say(with_frames("Explore", penguins=penguins))

    assert "```" not in answer
    assert "TERMINATE" not in answer


def test_same_messages_give_the_same_conversation(weather: pd.DataFrame) -> None:
    """Two runs of a task give the same transcript."""
    chats = [Chat({"weather": weather.copy()}) for _ in range(2)]
    for chat in chats:
        chat.say(with_frames("Explore", weather=weather))

    assert chats[0].text == chats[1].text


def test_follow_up_does_not_explore_again(penguins: pd.DataFrame) -> None:
    """A second task is answered with what is in the kernel already."""
    chat = Chat({"penguins": penguins})
    chat.say(with_frames("Explore", penguins=penguins))
    before = len(chat.blocks)
    answer = chat.say("And the average bill length by sex?")
    means = penguins.groupby("sex")["bill_length_mm"].mean()

    assert steps(chat)[before:] == ["answer"]
    assert f"`male` has the highest mean `bill_length_mm`: {means['male']:.2f}" in answer


def test_follow_up_works_on_the_clean_copy(weather: pd.DataFrame) -> None:
    """A second task about time uses the dates that the first one converted."""
    chat = Chat({"weather": weather})
    chat.say(with_frames("Explore", weather=weather))
    before = len(chat.blocks)
    answer = chat.say("Which month is the wettest?")
    monthly = weather.groupby(weather["date"].str[5:7])["precipitation"].mean()

    assert steps(chat)[before:] == ["answer", "plot"]
    assert f"highest in `November` ({monthly.max():.2f})" in answer


def test_follow_up_without_a_question_is_answered_in_words(penguins: pd.DataFrame) -> None:
    """Words that ask for nothing get the list of what can be asked, and no block."""
    chat = Chat({"penguins": penguins})
    chat.say(with_frames("Explore", penguins=penguins))
    before = len(chat.blocks)
    answer = chat.say("Thanks!")

    assert len(chat.blocks) == before
    assert "I found neither a column nor a question" in answer


def test_no_plot_is_drawn_when_none_is_wanted(penguins: pd.DataFrame) -> None:
    """Who asks for no plots gets none."""
    chat = Chat({"penguins": penguins})
    chat.say(with_frames("Compare body mass by sex, without plots", penguins=penguins))

    assert "plot" not in steps(chat)


def test_missing_values_are_counted_when_asked_for(penguins: pd.DataFrame) -> None:
    """A question about gaps is answered with their number in each column."""
    answer = Chat({"penguins": penguins}).say(with_frames("What is missing?", penguins=penguins))

    assert f"`sex` {penguins['sex'].isna().sum()} (" in answer


def test_groups_are_counted_when_asked_for(penguins: pd.DataFrame) -> None:
    """How many rows a group has is counted."""
    answer = Chat({"penguins": penguins}).say(with_frames("How many penguins per island?", penguins=penguins))

    assert f"`Biscoe` {(penguins['island'] == 'Biscoe').sum()} (" in answer


def test_models_are_declined(penguins: pd.DataFrame) -> None:
    """A task that asks for a prediction is told that none is made."""
    answer = Chat({"penguins": penguins}).say(with_frames("Predict body mass by species", penguins=penguins))

    assert "builds none" in answer


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ("Which numbers are outliers?", "`precipitation` has 206 outliers"),
        ("Show the distribution of wind", "`wind`: mean 3.24"),
        ("Compare the numbers by weather", "Mean `wind` by `weather`: from 2.42 (`drizzle`) to 4.4 (`snow`)"),
        ("On which weekday is the most wind?", "Mean `wind` by weekday"),
        ("Total precipitation per year", "Total `precipitation` by year"),
        ("How does wind relate to precipitation?", "`precipitation` with `wind`, r = +0.33"),
    ],
)
def test_kinds_of_questions_are_answered(task: str, told: str, weather: pd.DataFrame) -> None:
    """Each kind of question leads to the numbers that answer it, without a block that fails but for the dates."""
    chat = Chat({"weather": weather})
    answer = chat.say(with_frames(task, weather=weather))

    assert told in answer
    assert chat.text.count("exitcode: 1") == 1


def test_frame_that_the_kernel_lost_is_asked_for(penguins: pd.DataFrame) -> None:
    """When the frame that was handed over is gone, the reply asks for it."""
    chat = Chat({"penguins": penguins})
    chat.say(with_frames("Explore", penguins=penguins))
    del chat.namespace["penguins"]

    assert "Hand it over again" in chat.say("body mass by island")
