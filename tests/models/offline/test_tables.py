import pandas as pd
import pytest

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


def test_plot_alone_means_what_was_asked_before(penguins: pd.DataFrame) -> None:
    chat = Chat({"penguins": penguins})
    chat.say(with_frames("body mass by island, no plots", penguins=penguins))
    chat.say("Thanks!")
    assert chat.pictures == 0
    chat.say("Plot it.")

    assert steps(chat) == ["look", "groups", "groups"]
    assert chat.pictures == 1
