"""The step that runs code: which, in which order, and with whose leave."""

import base64
from collections.abc import Callable

import pytest

from autogen_nb.core.analysis import effects, reasons
from autogen_nb.core.chats.code_step import UNCLOSED, Reach, RunCode
from autogen_nb.core.chats.reply_steps import (
    AskFunction,
    ConversationState,
    Outcome,
    Reply,
    Step,
    Stop,
    check_termination_and_human_reply,
    generate_function_call_reply,
)
from autogen_nb.core.policy.path_scope import PathScope
from autogen_nb.core.text.output_images import MOST
from autogen_nb.effects import Confirm, Effect, EffectJudged, Permissions
from autogen_nb.events import (
    Answer,
    ApprovalAsked,
    ApprovalGiven,
    CodeAsked,
    CodeRan,
    EffectAsked,
    HumanInputAsked,
    HumanInputGiven,
    Question,
    Recorded,
    Said,
)
from autogen_nb.messages import CodeBlock, Message
from autogen_nb.outputs import Display, Failure, Output, Stream
from tests.core.worlds import echo, outcome, spec

Ran = Callable[[CodeAsked], CodeRan]
RUN, SKIP, STOP = ApprovalGiven("run"), ApprovalGiven("skip", reason="too slow"), ApprovalGiven("stop")


def code(*blocks: str) -> str:
    """A message with these blocks of Python."""
    return "\n\n".join(f"```python\n{block}\n```" for block in blocks)


def heard(*messages: str) -> ConversationState:
    """A scene in which the assistant and the user spoke in turn, the assistant last."""
    pairs = [("user", "assistant"), ("assistant", "user")]
    first = len(messages) % 2
    return (
        ConversationState()
        if not messages
        else _added(ConversationState(), [(pairs[(i + first) % 2], m) for i, m in enumerate(messages)])
    )


def _added(state: ConversationState, messages: list[tuple[tuple[str, str], str]]) -> ConversationState:
    for (sender, recipient), text in messages:
        state.add(Said(sender, recipient, Message(text)))
    return state


def run(
    state: ConversationState, step: RunCode, *approvals: ApprovalGiven, ran: Ran = echo
) -> tuple[list[Recorded], Outcome]:
    """The events of the step and what it comes to; code prints itself."""
    left = iter(approvals)

    def world(question: Question) -> Answer:
        return ran(question) if isinstance(question, CodeAsked) else next(left)

    return outcome(step(state, spec(), "assistant"), world)


def asked(events: list[Recorded]) -> list[tuple[str, ...]]:
    """The code of each run that was asked for."""
    return [tuple(block.code for block in event.blocks) for event in events if isinstance(event, CodeAsked)]


def told(came_to: Outcome) -> str:
    """The text of the reply."""
    assert isinstance(came_to, Reply)
    return came_to.message.text


def fails_at(bad: str) -> Ran:
    """Code that prints itself, until one block fails."""

    def ran(question: CodeAsked) -> CodeRan:
        codes = [block.code for block in question.blocks]
        count = codes.index(bad) + 1 if bad in codes else len(codes)
        return CodeRan(int(bad in codes), (Stream("stdout", "\n".join(codes[:count])),), count)

    return ran


def test_reply_reports_what_the_code_did() -> None:
    events, came_to = run(heard(code("x")), RunCode())

    assert events[0] == CodeAsked("user", (CodeBlock("python", "x"),))
    assert came_to == Reply(Message("exitcode: 0 (execution succeeded)\nCode output: x"))


@pytest.mark.parametrize(
    ("messages", "reach", "found"),
    [
        pytest.param([code("a")], "auto", ["a"], id="the last"),
        pytest.param(["no code"], "auto", [], id="none"),
        pytest.param([code("a"), "mine", "no code"], "auto", [], id="not before the agent itself spoke"),
        pytest.param([code("mine"), "no code"], "auto", [], id="not the agent's own"),
        pytest.param([code("a"), "mine", "no code"], 3, ["a"], id="as far back as told"),
        pytest.param([code("a"), "mine", "no code"], 2, [], id="no further back"),
        pytest.param([code("a"), "mine", code("b")], 3, ["b"], id="the newest"),
        pytest.param([code("mine"), "no code"], 2, ["mine"], id="its own counts too"),
        pytest.param([code("a")], 0, [], id="off"),
        pytest.param([code("a")], 100, ["a"], id="further back than there is"),
    ],
)
def test_newest_message_with_code_within_reach_wins(messages: list[str], reach: Reach, found: list[str]) -> None:
    events, came_to = run(heard(*messages), RunCode(reach))

    assert [block for blocks in asked(events) for block in blocks] == found
    assert isinstance(came_to, Reply) is bool(found)


def test_messages_since_the_agent_spoke_may_be_several() -> None:
    state = _added(ConversationState(), [(("assistant", "user"), code("a")), (("assistant", "user"), "and so on")])

    assert asked(run(state, RunCode())[0]) == [("a",)]


def test_code_runs_once() -> None:
    state = heard(code("a"))
    run(state, RunCode(3))
    _added(state, [(("user", "assistant"), "exitcode: 0"), (("assistant", "user"), "no code")])

    assert run(state, RunCode(3)) == ([], None)


@pytest.mark.parametrize("together", [False, True])
def test_blocks_run_in_order_and_stop_at_the_first_failure(together: bool) -> None:
    events, came_to = run(heard(code(*"abcd")), RunCode(together=together), ran=fails_at("b"))

    assert asked(events) == [[("a",), ("b",)], [("a", "b", "c", "d")]][together]
    assert told(came_to) == (
        "exitcode: 1 (execution failed)\nCode output: a\nb\n"
        "2 later block(s) did not run, because the one before failed."
    )


@pytest.mark.parametrize("together", [False, True])
def test_failure_of_the_last_block_leaves_none_out(together: bool) -> None:
    assert told(run(heard(code(*"ab")), RunCode(together=together), ran=fails_at("b"))[1]) == (
        "exitcode: 1 (execution failed)\nCode output: a\nb"
    )


def test_code_that_could_not_start_tells_why() -> None:
    refused = CodeRan(1, (Stream("stderr", "no such language"),), ran=0)

    assert told(run(heard(code("a")), RunCode(), ran=lambda _: refused)[1]) == (
        "exitcode: 1 (execution failed)\nCode output: no such language"
    )


def test_note_of_the_executor_is_told() -> None:
    _, came_to = run(heard(code("a")), RunCode(), ran=lambda _: CodeRan(124, note="All variables are lost."))

    assert told(came_to) == "exitcode: 124 (execution failed)\nCode output: \nAll variables are lost."


def test_silent_block_leaves_no_empty_line() -> None:
    outputs: dict[str, tuple[Output, ...]] = {"a": (), "b": (Stream("stdout", "b\n"),), "c": (Failure("E", "c"),)}

    _, came_to = run(heard(code(*"abc")), RunCode(), ran=lambda q: CodeRan(0, outputs[q.blocks[0].code]))

    assert told(came_to) == "exitcode: 0 (execution succeeded)\nCode output: b\nE: c"


def test_limit_holds_for_all_blocks_together() -> None:
    _, came_to = run(heard(code(*"abc")), RunCode(limit=90), ran=lambda _: CodeRan(0, (Stream("stdout", "#" * 1_000),)))

    assert told(came_to).count("#") == 90
    assert "2,912 characters left out" in told(came_to)


def test_notes_are_never_left_out() -> None:
    long = CodeRan(1, (Stream("stdout", "x" * 1_000),), note="Lost.")

    assert told(run(heard(code("a", "b")), RunCode(limit=9), ran=lambda _: long)[1]).endswith(
        "\nLost.\n1 later block(s) did not run, because the one before failed."
    )


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(
    ("approvals", "ran", "text"),
    [
        pytest.param([RUN, RUN], ["a", "b"], "exitcode: 0 (execution succeeded)\nCode output: a\nb", id="run, run"),
        pytest.param(
            [SKIP, RUN],
            ["b"],
            "exitcode: 0 (execution succeeded)\nCode output: b\nThe user skipped a block. The reason: too slow.",
            id="skip, run",
        ),
        pytest.param(
            [RUN, ApprovalGiven("skip")],
            ["a"],
            "exitcode: 0 (execution succeeded)\nCode output: a\nThe user skipped a block. The reason: none was given.",
            id="run, skip",
        ),
        pytest.param(
            [SKIP, SKIP],
            [],
            "The code was not run."
            "\nThe user skipped a block. The reason: too slow.\nThe user skipped a block. The reason: too slow.",
            id="skip, skip",
        ),
        pytest.param(
            [RUN, ApprovalGiven("run", code="b2")],
            ["a", "b2"],
            "exitcode: 0 (execution succeeded)\nCode output: a\nb2\n"
            "The user changed the code before it ran. This is what ran:\nb2",
            id="run, edit",
        ),
        pytest.param(
            [ApprovalGiven("run", code="a"), RUN],
            ["a", "b"],
            "exitcode: 0 (execution succeeded)\nCode output: a\nb",
            id="an edit that changes nothing",
        ),
    ],
)
def test_person_decides_on_each_block(
    approvals: list[ApprovalGiven], ran: list[str], text: str, together: bool
) -> None:
    events, came_to = run(heard(code("a", "b")), RunCode(confirm="always", together=together), *approvals)

    assert [block for blocks in asked(events) for block in blocks] == ran
    assert told(came_to) == text


@pytest.mark.parametrize(
    ("together", "approvals", "ran"),
    [(False, [STOP], []), (False, [RUN, STOP], [("a",)]), (True, [RUN, STOP], []), (True, [STOP], [])],
)
def test_stop_ends_the_chat(together: bool, approvals: list[ApprovalGiven], ran: list[tuple[str, ...]]) -> None:
    events, came_to = run(heard(code("a", "b")), RunCode(confirm="always", together=together), *approvals)

    assert came_to == Stop("stopped")
    assert asked(events) == ran


def test_question_names_the_block_and_the_reasons() -> None:
    events, _ = run(heard(code("exec(x)", "y", "exec(x)")), RunCode(confirm="risky"), RUN, RUN)

    questions = [event for event in events if isinstance(event, ApprovalAsked)]
    assert [(each.index, each.total) for each in questions] == [(0, 3), (2, 3)]
    for question in questions:
        assert question.effects == effects(CodeBlock("python", "exec(x)"), None) != ()
        assert question.reasons == reasons(question.effects) != ()


@pytest.mark.parametrize("together", [False, True])
def test_block_that_runs_has_leave_for_what_is_read_in_it(together: bool) -> None:
    edited = ApprovalGiven("run", code="exec(z)")

    events, _ = run(heard(code("x = 1", "exec(y)")), RunCode(confirm="risky", together=together), edited)

    leaves = [event.permissions for event in events if isinstance(event, CodeAsked)]
    read = effects(CodeBlock("python", "exec(z)"), None)
    assert read
    assert leaves == ([Permissions(read)] if together else [Permissions(), Permissions(read)])


def test_reading_knows_where_the_code_stands() -> None:
    write = 'open("/a/own/x", "w")'
    scope = PathScope("/a", "/a/own")

    events, _ = run(heard(code(write)), RunCode(confirm="always", scope=scope), RUN)

    assert [event.effects for event in events if isinstance(event, ApprovalAsked)] == [
        effects(CodeBlock("python", write), scope)
    ]


def test_nothing_is_asked_about_code_that_runs_unconfirmed() -> None:
    events, _ = run(heard(code("exec(x)")), RunCode(confirm="never"))

    assert [event.permissions for event in events if isinstance(event, CodeAsked)] == [None]


@pytest.mark.parametrize(("confirm", "questions"), [("always", 2), ("risky", 1), ("never", 0)])
def test_policy_says_which_blocks_are_asked_for(confirm: Confirm, questions: int) -> None:
    events, _ = run(heard(code("x = 1", "exec(x)")), RunCode(confirm=confirm), *[RUN] * questions)

    assert sum(isinstance(event, ApprovalAsked) for event in events) == questions


def test_no_block_is_asked_for_after_a_failure() -> None:
    events, _ = run(heard(code("a", "b")), RunCode(confirm="always"), RUN, ran=fails_at("a"))

    assert sum(isinstance(event, ApprovalAsked) for event in events) == 1


def test_cut_off_block_is_told_of_and_not_run() -> None:
    assert run(heard("```python\nx ="), RunCode()) == ([], Reply(Message(UNCLOSED)))


def test_cut_off_block_is_told_of_after_those_that_ran() -> None:
    events, came_to = run(heard(code("a") + "\n```python\nx ="), RunCode())

    assert asked(events) == [("a",)]
    assert told(came_to) == f"exitcode: 0 (execution succeeded)\nCode output: a\n{UNCLOSED}"


@pytest.mark.parametrize("together", [False, True], ids=["one by one", "together"])
@pytest.mark.parametrize("stop", [False, True], ids=["denied", "stopped"])
def test_stop_while_code_runs_ends_the_chat(together: bool, stop: bool) -> None:
    inner = (EffectAsked("user", Effect("network", "example.org")), EffectJudged(allowed=False, stop=stop))
    step = RunCode(together=together)

    came_to = run(heard(code("1", "2")), step, ran=lambda asked: CodeRan(0, inner=inner))[1]

    assert (came_to == Stop("stopped")) is stop


def turn(message: str, *before: Step, confirm: Confirm = "always", **settings: object) -> HumanInputAsked:
    """How a person is given the word after the assistant's message, where steps may stand before the one for code."""
    step = RunCode(confirm=confirm)
    steps: list[Step] = [check_termination_and_human_reply, *before, step]
    events, _ = outcome(
        check_termination_and_human_reply(
            heard(message), spec("user", *steps, human_input_mode="ALWAYS", **settings), "assistant"
        ),
        lambda _: HumanInputGiven("exit"),
    )
    asked = events[0]
    assert isinstance(asked, HumanInputAsked)
    return asked


@pytest.mark.parametrize("before", [(), (generate_function_call_reply,)], ids=["alone", "after calls"])
def test_person_with_the_word_is_asked_about_the_code_too(before: tuple[Step, ...]) -> None:
    asked = turn(code("1", "2"), *before)

    block = CodeBlock("python", "1")
    assert asked.then == ApprovalAsked("user", block, 0, 2, (), effects(block, None), always=True)
    assert run(heard(code("1", "2")), RunCode(confirm="always"), STOP)[0][0] == asked.then


@pytest.mark.parametrize(
    ("message", "confirm"),
    [("No code.", "always"), (code("1"), "never"), (code("1 + 1"), "risky"), ("```python\n1", "always")],
    ids=["no code", "never asked", "harmless", "cut off"],
)
def test_person_with_the_word_is_asked_about_nothing_else(message: str, confirm: Confirm) -> None:
    assert turn(message, confirm=confirm).then is None


def test_what_a_step_in_between_does_is_not_foreseen() -> None:
    assert turn(code("1"), AskFunction(0, "own")).then is None
    assert turn(code("1"), termination=lambda _: True).then is None


def test_calls_come_before_code() -> None:
    calls = [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]
    state = ConversationState()
    state.add(Said("assistant", "user", Message(code("1"), tool_calls=calls)))
    steps: list[Step] = [generate_function_call_reply, RunCode(confirm="always")]
    events, _ = outcome(
        check_termination_and_human_reply(state, spec("user", *steps, human_input_mode="ALWAYS"), "assistant"),
        lambda _: HumanInputGiven("exit"),
    )

    assert isinstance(events[0], HumanInputAsked)
    assert events[0].then is None


def test_code_that_ran_is_not_asked_for_with_the_word() -> None:
    state, step = heard(code("1")), RunCode(confirm="always")
    run(state, step, RUN)

    assert step.foresee(state, spec(), "assistant") is None


PLOT = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


def plotting(asked: CodeAsked) -> CodeRan:
    """Code that draws a plot and says so."""
    del asked
    return CodeRan(0, (Stream("stdout", "drawn\n"), Display({"image/png": PLOT, "text/plain": "<Figure>"})))


@pytest.mark.parametrize("blocks", [1, MOST + 2])
def test_model_that_can_see_is_shown_the_plots(blocks: int) -> None:
    _, came = run(heard(code(*["plot()"] * blocks)), RunCode(pictures=True), ran=plotting)

    assert isinstance(came, Reply)
    assert isinstance(came.message.content, list)
    text, *pictures = came.message.content
    said = "\n".join(["drawn\n[shown to the person: image/png, <Figure>]"] * blocks)
    assert text == {"type": "text", "text": f"exitcode: 0 (execution succeeded)\nCode output: {said}"}
    assert pictures == [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PLOT}"}}] * min(
        blocks, MOST
    )


@pytest.mark.parametrize(("pictures", "ran"), [(False, plotting), (True, echo)], ids=["cannot see", "no plot"])
def test_other_replies_are_text(pictures: bool, ran: Ran) -> None:
    _, came = run(heard(code("plot()")), RunCode(pictures=pictures), ran=ran)

    assert isinstance(came, Reply)
    assert isinstance(came.message.content, str)


def test_model_is_told_where_the_whole_output_is() -> None:
    _, came = run(heard(code("x")), RunCode(), ran=lambda _: CodeRan(0, (Stream("stdout", "..."),), whole="out-1.txt"))

    assert isinstance(came, Reply)
    assert came.message.text.endswith("\nThe output is long; all of it is in 'out-1.txt'.")
