"""The programs of the first tutorial, with the import line changed and nothing else.

Each runs in a script and in a notebook's cell, sync and async, against a local server that plays the model.
"""

import statistics
from pathlib import Path

import pytest

from autogen_nb.testing import FakeOpenAI, FakeReply, Received
from tests.notebook.conftest import python
from tests.tutorial.running import KEY, Runner, Way

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("way", ["sync", "async"])]

SUMMARY = "Write a Python function that reads a CSV and returns summary stats."
MEDIAN = (
    "Write a Python function that takes a list of numbers and returns the median. "
    "Handle edge cases: empty list, single element, even-length list. Include at least 5 test cases."
)
RAN = "exitcode: 0 (execution succeeded)\nCode output: "
PRODUCT = python("print(6 * 7)")

WRONG = """
def median(numbers):
    ordered = sorted(numbers)
    return ordered[len(ordered) // 2]

found = median([1, 2, 3, 4])
print("even length:", found)
assert found == 2.5, found
"""
RIGHT = """
import os

def median(numbers):
    if not numbers:
        raise ValueError("no numbers, no median")
    ordered, middle = sorted(numbers), len(numbers) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2

for case in CASES:
    print(case, median(case))
try:
    median([])
except ValueError as error:
    print("empty:", error)
print("before:", found, "in", os.path.basename(os.getcwd()))
"""
CASES: list[list[float]] = [[7], [3, 1, 2], [1, 2, 3, 4], [2.5, -1.5], [9, 1, 8, 2, 7], [10**6, 5, -(10**6)]]
FIGURES = "\n".join(f"{case} {statistics.median(case)}" for case in CASES)


def test_median(run: Runner, way: Way, tmp_path: Path) -> None:
    replies = [python(WRONG.strip()), python(RIGHT.strip().replace("CASES", repr(CASES))), "It works. TERMINATE"]
    with FakeOpenAI(replies) as server:
        ran = run("median", way, tmp_path, server.base_url)
    asked = [request.body["messages"] for request in server.requests]

    assert ran.speakers == ["user_proxy", "assistant"] * 3
    assert [ran.contents[index] for index in (0, 1, 3, 5)] == [MEDIAN, *replies]
    assert ran.contents[2].startswith("exitcode: 1 (execution failed)\nCode output: even length: 3\n")
    assert "AssertionError: 3" in ran.contents[2]
    # The name `found` comes from the block that failed: the kernel is one for the whole chat.
    assert ran.contents[4] == f"{RAN}{FIGURES}\nempty: no numbers, no median\nbefore: 3 in autogen_workspace"
    # The conversation is shown as it goes.
    shown = ["returns the median", "found = median", "even length: 3", "It works.", "--- Conv", "Total messages: 6"]
    places = [ran.printed.find(text) for text in shown]
    assert -1 not in places
    assert places == sorted(places)
    assert ran.questions == []
    assert (ran.folder / "autogen_workspace").is_dir()
    assert [message["role"] for message in asked[2]] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert asked[2][0]["content"].startswith("You are a Python expert.\n")
    assert [message["content"] for message in asked[2][1:]] == ran.contents[:5]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.requests[0].body["model"] == "gpt-4o-mini"
    assert server.requests[0].body["temperature"] == 0


def test_full_configuration(run: Runner, way: Way, tmp_path: Path) -> None:
    with FakeOpenAI(["A plan first.", PRODUCT, "Explained. TERMINATE"]) as server:
        ran = run("full_configuration", way, tmp_path, server.base_url)

    assert ran.contents == [SUMMARY, "A plan first.", "Please continue.", PRODUCT, f"{RAN}42", "Explained. TERMINATE"]
    assert ran.speakers == ["executor", "python_expert"] * 3
    assert ran.questions == []
    assert (ran.folder / "coding_workspace").is_dir()
    assert server.requests[0].headers["authorization"] == "Bearer YOUR_OPENAI_API_KEY"
    assert server.requests[0].body["messages"][0]["content"].endswith("End your final message with TERMINATE.")


def test_never(run: Runner, way: Way, tmp_path: Path) -> None:
    with FakeOpenAI([PRODUCT, "Done. TERMINATE"]) as server:
        ran = run("mode_never", way, tmp_path, server.base_url)

    assert ran.contents == [SUMMARY, PRODUCT, f"{RAN}42", "Done. TERMINATE"]
    assert ran.questions == []


def test_never_stops_at_the_limit(run: Runner, way: Way, tmp_path: Path) -> None:
    with FakeOpenAI(lambda _: "Still thinking.") as server:
        ran = run("mode_never", way, tmp_path, server.base_url)

    assert ran.contents == [SUMMARY, *["Still thinking.", ""] * 10]
    assert ran.questions == []


def test_terminate(run: Runner, way: Way, tmp_path: Path) -> None:
    words = "The analysis looks wrong. Recalculate with Q2 data."
    with FakeOpenAI([PRODUCT, "Here is the analysis. TERMINATE", "Recalculated. TERMINATE"]) as server:
        ran = run("mode_terminate", way, tmp_path, server.base_url, [words, ""])

    assert ran.contents == [
        SUMMARY,
        PRODUCT,
        f"{RAN}42",
        "Here is the analysis. TERMINATE",
        words,
        "Recalculated. TERMINATE",
    ]
    assert ran.questions == [True, True]


def test_always(run: Runner, way: Way, tmp_path: Path) -> None:
    with FakeOpenAI([PRODUCT, "It ran.", "TERMINATE"]) as server:
        ran = run("mode_always", way, tmp_path, server.base_url, ["", "Please add a docstring.", ""])

    assert ran.contents == [SUMMARY, PRODUCT, f"{RAN}42", "It ran.", "Please add a docstring.", "TERMINATE"]
    assert ran.questions == [False, False, True]


@pytest.mark.parametrize(("status", "tries"), [(500, 3), (401, 1)])
def test_fallback(run: Runner, way: Way, tmp_path: Path, status: int, tries: int) -> None:
    def answer(received: Received) -> FakeReply:
        if received.body["model"] == "gpt-4o":
            return FakeReply(status=status, headers={"retry-after-ms": "1"})
        ran = any(str(message["content"]).startswith("exitcode") for message in received.body["messages"])
        return FakeReply("Done. TERMINATE" if ran else PRODUCT)

    with FakeOpenAI(answer) as server:
        ran = run("fallback", way, tmp_path, server.base_url)
    asked = [(request.body["model"], request.headers["authorization"]) for request in server.requests]

    turn = [("gpt-4o", "Bearer YOUR_PRIMARY_KEY")] * tries + [("gpt-4o-mini", "Bearer YOUR_FALLBACK_KEY")]
    assert asked == turn * 2
    assert ran.contents == [MEDIAN, PRODUCT, f"{RAN}42", "Done. TERMINATE"]
    assert ran.printed.count("gpt-4o-mini") == 2


def test_critic(run: Runner, way: Way, tmp_path: Path) -> None:
    first, second = python("open('ran', 'w')"), python("open('ran', 'w').close()", words="Mended:")
    written, reviews = iter([first, second]), iter(["The file is never closed.", "TERMINATE"])

    def answer(received: Received) -> str:
        system = str(received.body["messages"][0]["content"])
        return next(reviews if system.startswith("You are a strict code reviewer.") else written)

    with FakeOpenAI(answer) as server:
        ran = run("critic", way, tmp_path, server.base_url)
    reviewed = server.requests[3].body["messages"]

    assert ran.contents == [SUMMARY, first, "The file is never closed.", second, "TERMINATE"]
    assert ran.speakers == ["critic", "assistant", "critic", "assistant", "critic"]
    assert [message["role"] for message in reviewed] == ["system", "assistant", "user", "assistant", "user"]
    assert list(tmp_path.rglob("ran")) == []
    assert ran.questions == []
