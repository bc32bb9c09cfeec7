import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from autogen_nb.effects import Effect, EffectJudged
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    Called,
    ChatStarted,
    CodeAsked,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    Ended,
    Event,
    FunctionsAsked,
    FunctionsReturned,
    ModelAsked,
    ModelDelta,
    ModelReplied,
    ModelRetry,
    OutputAdded,
    ReasoningDelta,
    Relayed,
    Said,
    SpeakerAsked,
    SpeakerGiven,
    SummaryGiven,
)
from autogen_nb.messages import CodeBlock, Completion, FunctionCall, Message, Reasoning, Usage
from autogen_nb.notebook.rendering.chat_html import folded
from autogen_nb.notebook.view.notebook_view import NotebookView
from autogen_nb.notebook.view.outputs import call_html, folded_reasoning, result_html
from autogen_nb.outputs import Display, Stream
from autogen_nb.settings import Show
from autogen_nb.views.in_words import Totals, dollars
from tests.notebook.markup import HOSTILE, code_of, problems, text_of
from tests.replies import replied

ADD = FunctionCall("add", '{"a": 1}', "c1")


def asks(*calls: FunctionCall, text: str | None = None) -> Message:
    tools = [{"id": call.call_id, "function": {"name": call.name, "arguments": call.arguments}} for call in calls]
    return Message(text, tool_calls=tools)


class Page:
    def __init__(self, published: list[dict[str, Any]], show: Show = "results") -> None:
        self.published = published
        self.now = 100.0
        self.view = NotebookView(show=show, clock=lambda: self.now)

    def show(self, *events: Event) -> None:
        for event in events:
            self.view.show(event)

    @property
    def kinds(self) -> list[str]:
        kinds = [output["metadata"]["autogen_nb"]["kind"] for output in self.outputs]
        return [kind for kind in kinds if kind != "empty"]

    @property
    def texts(self) -> list[str]:
        return [text for output in self.outputs if (text := output["data"]["text/plain"])]

    @property
    def html(self) -> list[str]:
        return [html for output in self.outputs if (html := output["data"]["text/html"])]

    @property
    def outputs(self) -> Iterator[dict[str, Any]]:
        places = {output["transient"]["display_id"]: output for output in self.published}
        return iter(places.values())


@pytest.fixture
def page(published: list[dict[str, Any]]) -> Page:
    return Page(published)


def test_a_message_without_words_has_no_empty_bubble(page: Page) -> None:
    page.show(Said("assistant", "user", asks(ADD)), Said("user", "assistant", Message("")))

    assert page.texts == ['assistant:\ncalls add({"a": 1})']


@pytest.mark.parametrize(
    ("then", "shown"), [(FunctionsAsked("user", (ADD,)), "\ndid not return"), (Ended("max_turns"), "")]
)
def test_a_chat_that_ended_with_its_calls(page: Page, then: Event, shown: str) -> None:
    page.show(Said("assistant", "user", asks(ADD)), then)
    page.view.close()

    assert page.texts[0] == f'assistant:\ncalls add({{"a": 1}}){shown}'


def test_a_member_that_calls_on_the_way(page: Page) -> None:
    page.show(
        ModelAsked("calc", "team", 1),
        ModelDelta("calc", "I add."),
        replied(asks(ADD, text="I add."), "m"),
        FunctionsAsked("calc", (ADD,)),
        FunctionsReturned(("3",)),
        Said("calc", "team", Message("3"), kind="tools"),
        Said("bob", "team", Message("Fine.")),
    )

    assert [text.splitlines() for text in page.texts] == [
        ["calc (before its calls):", "I add."],
        ["calc:", 'calls add({"a": 1})', "add returned: 3"],
        ["bob:", "Fine."],
    ]


def test_a_group(page: Page) -> None:
    page.show(
        Said("ann", "manager", Message("one")),
        SpeakerAsked("manager", "ann", ("bob", "cy"), "auto"),
        SpeakerGiven("nobody"),
        SpeakerAsked("manager", "ann", ("bob", "cy"), "auto", ("nobody",)),
        SpeakerGiven("bob"),
        Relayed("manager", "ann", ("bob", "cy")),
        Said("bob", "manager", Message("two")),
        SpeakerAsked("manager", "bob", ("ann", "cy"), "random"),
        SpeakerGiven("cy"),
        Said("cy", "manager", Message("three")),
        SpeakerAsked("manager", "cy", ("ann", "bob"), "auto"),
        SpeakerGiven("ann"),
    )

    assert page.texts == ["ann:\none", "next: bob (named at attempt 2)", "bob:\ntwo", "cy:\nthree"]


def test_a_chat_within_the_chat(page: Page) -> None:
    page.show(
        ChatStarted("user", "critic"),
        Said("user", "critic", Message("one")),
        ChatStarted("critic", "inner"),
        Said("critic", "inner", Message("two")),
        replied(Message("three"), "m"),
        Said("inner", "critic", Message("three")),
    )

    assert page.texts == ["user:\none", "critic (to inner):\ntwo", "inner (m \u00b7 < 0.1 s):\nthree"]


def test_a_long_chat_without_a_model_stays_in_sight(page: Page) -> None:
    for number in range(200):
        page.show(Called("generate_reply", "a", "b", number), Said("a", "b", Message(f"message {number}")))

    assert len(page.texts) < 50
    assert "\n".join(page.texts).count("message") == 200


RAN = (CodeAsked("user", (CodeBlock("python", "1"),)), CodeRan(0, (Stream("stdout", "1\n"),)))


@pytest.mark.parametrize(
    "between",
    [
        (Ended("stopped"), ChatStarted("user", "assistant")),
        (replied(Message("It is 1."), "m"), Said("assistant", "user", Message("It is 1."))),
    ],
    ids=["stopped", "model"],
)
def test_only_the_report_of_the_outputs_is_left_out(page: Page, between: tuple[Event, ...]) -> None:
    page.show(ChatStarted("user", "assistant"), *RAN, *between, Said("user", "assistant", Message("Go on.")))

    assert page.texts[-1] == "user:\nGo on."


def test_a_budget_is_reported_in_the_status_and_at_the_end(page: Page) -> None:
    spent = ["0 of 9 tokens spent"]
    page.view.spent = lambda: spent[-1]
    page.view.set_status("a is thinking")
    page.now += 1
    page.view.tick()
    before = page.texts[-1]
    spent.append("7 of 9 tokens spent")
    page.show(Ended("answered"))

    assert before.endswith("0 of 9 tokens spent")
    assert page.texts[-1].endswith("7 of 9 tokens spent")


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (CodeInputAsked("user", "Name? "), CodeInputGiven("Ada")),
        (EffectAsked("user", Effect("write", "/x")), EffectJudged(True)),
    ],
    ids=["input", "question"],
)
def test_the_time_of_a_run_goes_on_after_what_it_asks(page: Page, asked: Event, given: Event) -> None:
    page.show(CodeAsked("user", (CodeBlock("python", "input()"),)))
    page.now += 7
    page.show(asked)
    page.now += 30
    page.view.release()
    page.show(given)
    page.now += 5
    page.view.tick()

    assert page.texts[-1].startswith("running python \u2026 \u00b7 42 s \u00b7")


def test_the_wait_before_a_retry_counts_down(page: Page) -> None:
    page.show(ModelAsked("assistant", "user", 1))
    page.show(ModelRetry("assistant", "<b>busy</b>", 2.5))
    texts = []
    for _ in range(4):
        page.now += 1
        page.view.tick()
        texts.append(page.texts[-1].rpartition(" \u00b7 ")[0])

    assert texts == [
        "<b>busy</b> \u00b7 trying again in 2 s",
        "<b>busy</b> \u00b7 trying again in 1 s",
        "assistant is thinking \u2026 \u00b7 0.5 s",
        "assistant is thinking \u2026 \u00b7 2 s",
    ]
    assert "<b>" not in page.html[0]


def test_text_stays_above_what_came_after_it(page: Page) -> None:
    page.show(CodeAsked("user", (CodeBlock("python", "print('text')\ndisplay(1)"),)))
    page.now += 0.05
    page.view.tick()
    page.now += 0.05
    page.show(OutputAdded("user", Stream("stdout", "text\n")))
    page.now += 0.05
    page.view.tick()
    page.show(OutputAdded("user", Display({"text/plain": "a picture"})))

    assert page.texts == ["text\n", "a picture"]


def test_the_line_that_ends_a_chat_is_not_shown(page: Page) -> None:
    reply = Message("It is 42.\n\nTERMINATE")
    for piece in ("It is 42.", "\n\nTER", "MIN", "ATE"):
        page.show(ModelDelta("assistant", piece))
        page.view.tick()
    page.show(replied(reply), Said("assistant", "user", reply))

    assert page.texts == ["assistant (< 0.1 s):\nIt is 42."]
    assert "TER" not in str(page.published)


def test_a_thought_is_open_while_it_streams_then_folded(page: Page) -> None:
    page.show(ModelAsked("assistant", "user", 1))
    page.now += 1
    page.show(ReasoningDelta("assistant", "Is it?"))
    thinking = page.html[-1]
    page.now += 3
    page.show(ModelDelta("assistant", "Yes."))
    writing = page.html[-1]
    reply = Message("Yes.")
    page.show(replied(reply, "m", seconds=4, reasoning=Reasoning("Is it?", 3, 17)), Said("assistant", "user", reply))

    assert "<details" not in thinking
    assert text_of(thinking.rpartition("</style>")[2]).endswith("\u00b7 thinkingIs it?\n")
    assert "thought for 3 s</summary>" in writing
    assert "thought for 3 s \u00b7 17 tokens</summary>" in page.html[-1]
    assert page.texts == ["assistant (m \u00b7 4 s):\nthought for 3 s \u00b7 17 tokens\nYes."]


def test_nothing_of_a_thought_or_a_call_acts() -> None:
    texts = [
        text for vector in HOSTILE for text in (vector, vector * 40, f"Error: {vector}", f"Error: {vector}\n" * 40)
    ]

    assert [text for text in texts if problems(call_html(FunctionCall(text, text)) + result_html(text))] == []
    assert [text for text in texts if problems(folded_reasoning(Reasoning(text)))] == []


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("3", "\u2192 3"),
        ("", "\u2192 returned nothing"),
        (" \n", "\u2192 returned nothing"),
        ("a\nb\n", "\u2192 a\nb"),
        ("Error: no", "\u2715 Error: no"),
        ("\x1b[31mred\x1b[0m", "\u2192 red"),
    ],
    ids=["short", "empty", "blank", "lines", "error", "colours"],
)
def test_a_short_result_is_seen_at_once(content: str, shown: str) -> None:
    html = result_html(content)

    assert "<details" not in html
    assert text_of(html) == shown


def test_folded_text_stands_behind_its_summary() -> None:
    html = folded("`KeyError: '<b>'` of it", "<i>traceback")

    assert html.startswith("<details><summary")
    assert text_of(html.split("</summary>")[0]) == "\u2715 KeyError: '<b>' of it"
    assert problems(html) == []
    assert code_of(html.split("</summary>")[1]) == "<i>traceback"


USED = Usage(100, 20)


def used(usage: Usage | None = USED, cost: float | None = None, *, cached: bool = False) -> Completion:
    return Completion(Message("x"), "m", usage, cost=cost, cached=cached)


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ([], ""),
        ([ModelReplied(used(None))], "1 reply"),
        ([ModelReplied(used(cost=0.5)), CodeRan(0, ran=2)], "1 reply · 2 blocks run · 120 tokens · $0.5000"),
        ([ModelReplied(used())], "1 reply · 120 tokens · cost unknown"),
        ([ModelReplied(used()), ModelReplied(used(cost=0.5))], "2 replies · 240 tokens · at least $0.5000"),
        ([ModelReplied(used(cost=0.5, cached=True))], "1 reply (1 from the cache)"),
        ([ModelReplied(used(cost=0.0))], "1 reply · 120 tokens"),
        ([FunctionsReturned(("1", "2"))], "2 calls"),
        ([SpeakerGiven("a", completion=used(cost=1.0)), SummaryGiven("", used(cost=1.5))], "240 tokens · $2.50"),
        ([SpeakerGiven("a", completion=used(cached=True))], ""),
        (
            [ModelReplied(replace(used(cost=0.0), window=tokens)) for tokens in (200, 1_000)],
            "2 replies · 240 tokens · context 12% full",
        ),
        ([ModelReplied(replace(used(cost=0.0), window=10**6))], "1 reply · 120 tokens · context 1% full"),
    ],
    ids="nothing uncounted priced unpriced partly cached free calls others cached-choice window large-window".split(),
)
def test_the_sums(events: list[Event], text: str) -> None:
    assert Totals.of(events).text() == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0.00000001, "< $0.0001"), (0.0001, "$0.0001"), (0.25, "$0.2500"), (1, "$1.00"), (1234.567, "$1,234.57")],
)
def test_dollars(amount: float, text: str) -> None:
    assert dollars(amount) == text


FAILS = "```python\n# Load the table\nx = '``'\n```\nand\n```python\n1 / 0\n```"


@pytest.mark.parametrize(("exit_code", "marks"), [(0, ["\u2713", "\u2713"]), (1, ["\u2713", "\u2715"])])
def test_blocks_that_ran_fold_to_a_line_with_their_end(page: Page, exit_code: int, marks: list[str]) -> None:
    page.show(Said("assistant", "user", Message(FAILS)))
    unfolded = page.html[0]
    blocks = (CodeBlock("python", "# Load the table\nx = '``'"), CodeBlock("python", "1 / 0"))
    page.show(CodeAsked("user", blocks), CodeRan(exit_code, ran=2, seconds=1.0))

    assert "<details>" not in unfolded
    summaries = [text_of(part.partition("</summary>")[0]) for part in page.html[0].split("<summary")[1:]]
    assert [summary.partition(">")[2][:1] for summary in summaries] == marks
    assert "Load the table \u00b7 2 lines" in summaries[0]
    assert "1 / 0 \u00b7 1 line" in summaries[1]
    assert text_of(page.html[0]).count("x = '``'") == 1


def test_a_decision_is_in_the_line_of_its_block(page: Page) -> None:
    load, divide = CodeBlock("python", "# Load the table\nx = '``'"), CodeBlock("python", "1 / 0")
    page.show(Said("assistant", "user", Message(FAILS)), ApprovalAsked("user", load, 0, 2))
    page.show(ApprovalGiven("skip", reason="no table", by="you"))
    skipped = text_of(page.html[0])
    page.show(ApprovalAsked("user", divide, 1, 2), ApprovalGiven("run", code="1 / 1", by="you"))
    running = page.html[0]
    page.show(CodeAsked("user", (CodeBlock("python", "1 / 1"),)), CodeRan(0, seconds=1.0))

    assert re.search(r"Load the table \u00b7 2 lines \u00b7 skipped by you, \d\d:\d\d \(no table\)", skipped)
    assert running.count(" open>") == 1
    assert re.search(r"\u2713 1 / 1 \u00b7 1 line \u00b7 1 s \u00b7 edited and run by you, \d", text_of(page.html[0]))
    assert "as edited" in page.html[0]
    assert page.kinds == ["message", "note"]


def test_code_of_a_waiting_block_scrolls_within_itself(page: Page) -> None:
    page.show(Said("assistant", "user", Message(FAILS)))
    page.show(ApprovalAsked("user", CodeBlock("python", "1 / 0"), 1, 2))

    assert page.html[0].count("max-height:max(calc(60vh / 2)") == 2


@pytest.mark.parametrize("line", ["line {}\n", "\x1b[31mline {}\x1b[0m\n"], ids=["plain", "red"])
@pytest.mark.parametrize(("lines", "folded"), [(40, False), (60, True)])
def test_long_prints_show_their_ends(page: Page, lines: int, folded: bool, line: str) -> None:
    page.show(CodeAsked("user", (CodeBlock("python", "print()"),)))
    page.show(OutputAdded("user", Stream("stdout", "".join(map(line.format, range(lines))))))
    page.show(CodeRan(0))

    assert page.texts[0].count("line") == lines
    html = "".join(output["data"].get("text/html", "") for output in page.published)
    assert ("30 more lines" in html) is folded
    assert "\x1b" not in html


BAR = [Stream("stderr", "\r0%"), Stream("stderr", "\r100%")]
LINE_FEED, PRINT = [Stream("stderr", "\n")], [Stream("stdout", "780"), Stream("stdout", "\n")]


@pytest.mark.parametrize("order", [LINE_FEED + PRINT, PRINT + LINE_FEED, PRINT[:1] + LINE_FEED + PRINT[1:]])
def test_a_bar_ends_its_line_before_the_next_print(page: Page, order: list[Stream]) -> None:
    page.show(CodeAsked("user", (CodeBlock("python", "print()"),)))
    for output in BAR + order:
        page.show(OutputAdded("user", output))
    page.show(CodeRan(0))

    assert page.texts[0].endswith("100%\n780\n")


PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
RUN_AND_ANSWER = (
    Said("assistant", "user", Message("```python\nprint()\n```")),
    CodeAsked("user", (CodeBlock("python", "print()"),)),
    OutputAdded("user", Stream("stdout", "line\n" * 60)),
    OutputAdded("user", Display({"text/plain": "a plot", "image/png": PICTURE})),
    CodeRan(0),
    replied(Message("It is 42.")),
    Said("assistant", "user", Message("It is 42.")),
    Ended("answered"),
)


@pytest.mark.parametrize(("show", "opened"), [("results", 0), ("code", 1), ("all", 2)])
def test_what_is_folded(show: Show, opened: int, published: list[dict[str, Any]]) -> None:
    page = Page(published, show)
    page.show(*RUN_AND_ANSWER)

    html = "".join(output["data"].get("text/html", "") for output in page.outputs)
    assert (html.count("<details"), html.count(" open>")) == (2, opened)
    assert f'data-show="{show}"' in html


def test_only_the_answer_is_above_the_end(published: list[dict[str, Any]]) -> None:
    page = Page(published, "answer")
    page.show(*RUN_AND_ANSWER)

    assert page.kinds == ["earlier", "message", "end"]
    assert text_of(page.html[0].partition("</summary>")[0]) == "Work: 1 block, 2 outputs"
    assert "<img" in page.html[0]


def test_an_answer_without_work_has_no_switch(page: Page) -> None:
    page.show(RUN_AND_ANSWER[-2], Ended("answered"))

    assert "<script" not in page.html[-1]
