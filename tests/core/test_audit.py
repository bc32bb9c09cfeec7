from autogen_nb.core.audit import Sent, decisions, requests
from autogen_nb.effects import ENDED, Effect, EffectJudged, Permissions
from autogen_nb.events import (
    ApprovalAsked,
    ApprovalGiven,
    ChatStarted,
    CodeAsked,
    CodeInputAsked,
    CodeInputGiven,
    CodeRan,
    EffectAsked,
    Ended,
    HumanInputAsked,
    HumanInputGiven,
    ModelAsked,
    ModelReplied,
    Recorded,
    Relayed,
    ReplyGiven,
    Said,
    SpeakerAsked,
    SpeakerGiven,
    SummaryAsked,
    SummaryGiven,
)
from autogen_nb.messages import CodeBlock, Message

ONE, TWO = CodeBlock("python", "one"), CodeBlock("python", "two")


def test_code_that_ran_unasked() -> None:
    log: list[Recorded] = [
        ApprovalAsked("user", TWO),
        ApprovalGiven("run", by="you"),
        CodeAsked("user", (ONE, TWO, ONE), Permissions()),
        CodeRan(1, ran=2),
        CodeAsked("user", (ONE,)),
        CodeRan(0),
        CodeRan(0),
    ]

    assert [(row.code, row.by, row.came_to, row.reasons) for row in decisions(log)] == [
        ("two", "you", "exit code 1", ()),
        ("one", "the policy", "exit code 0", ("no risks were found in it",)),
        ("one", "the policy", "did not run", ("no risks were found in it",)),
        ("one", "the policy", "exit code 0", ("confirm is never",)),
    ]


def test_questions_while_code_runs() -> None:
    effect = EffectAsked("user", Effect("network", "x.org", "connects to x.org"), "  get()")
    log: list[Recorded] = [
        CodeAsked("user", (ONE,), Permissions()),
        CodeRan(
            0,
            inner=(
                effect,
                EffectJudged(allowed=True, by="your rule: network x.org"),
                EffectAsked("user", Effect("delete", "/x")),
                EffectJudged(allowed=False, reason="no", by="you"),
                effect,
                EffectJudged(allowed=False, stop=True, by="you"),
                effect,
                ENDED,
                CodeInputAsked("user", "Name? "),
                CodeInputGiven("Ann", by="you"),
                CodeInputAsked("user", "Password: ", password=True),
                CodeInputGiven("", by="you"),
                CodeInputAsked("user"),
                CodeInputGiven(None),
            ),
        ),
    ]

    rows = decisions(log)

    assert [(row.what, row.answer, row.by) for row in rows[1:]] == [
        ("running code connects to x.org", "allowed", "your rule: network x.org"),
        ("running code delete /x", "denied (no)", "you"),
        ("running code connects to x.org", "denied, and the chat stopped", "you"),
        ("running code connects to x.org", "not decided (the code has ended)", ""),
        ("input of running code (Name?)", "typed: Ann", "you"),
        ("input of running code (Password:)", "a password", "you"),
        ("input of running code", "no input", ""),
    ]
    assert rows[1].reasons == ("at the line get()",)
    assert rows[0].came_to == "exit code 0"


def test_words_of_a_person() -> None:
    log: list[Recorded] = []
    for text in ("blue", ""):
        log += [HumanInputAsked("user", "assistant", "Your turn: "), HumanInputGiven(text, by="you")]

    assert [(row.what, row.answer) for row in decisions(log)] == [
        ("your words (Your turn:)", "said: blue"),
        ("your words (Your turn:)", "said nothing"),
    ]


def test_chats_within_are_part_of_the_record() -> None:
    inner: tuple[Recorded, ...] = (ApprovalAsked("inner", ONE), ApprovalGiven("skip", by="you"))
    log: list[Recorded] = [ReplyGiven(Message("x"), inner=inner), ApprovalAsked("user", TWO)]

    assert [row.agent for row in decisions(log)] == ["inner", "user"]


def said(sender: str, recipient: str, text: str) -> Said:
    return Said(sender, recipient, Message(text))


def texts(row: Sent) -> list[tuple[str, str]]:
    return [(name, message.text) for name, message in row.new]


def test_what_went_to_a_model() -> None:
    log: list[Recorded] = [
        ChatStarted("user", "assistant"),
        said("user", "assistant", "Plot."),
        ModelAsked("assistant", "user", 1),
        ModelReplied(Message("code"), "gpt", host="api.openai.com"),
        said("assistant", "user", "code"),
        said("user", "assistant", "Failed."),
        ModelAsked("assistant", "user", 3),
        ModelReplied(Message("code"), "gpt", cached=True),
        said("assistant", "user", "code"),
        SummaryAsked("assistant", "user"),
        SummaryGiven("short", model="gpt", host="api.openai.com"),
        SummaryAsked("assistant", "user"),
        SummaryGiven("by a function"),
        ModelAsked("assistant", "user", 4),
        Ended("answered"),
    ]

    rows = requests(log)

    assert [(row.agent, row.why, row.host, row.model, row.cached) for row in rows] == [
        ("assistant", "a reply", "api.openai.com", "gpt", False),
        ("assistant", "a reply", "", "gpt", True),
        ("assistant", "a summary", "api.openai.com", "gpt", False),
        ("assistant", "a reply", None, "", False),
    ]
    assert [texts(row) for row in rows] == [[("user", "Plot.")], [("user", "Failed.")], [], []]


def test_what_went_to_the_models_of_a_group() -> None:
    log: list[Recorded] = [
        said("admin", "manager", "Go."),
        Relayed("manager", "admin", ("ann", "bob")),
        Relayed("manager", "nobody", ("ann",)),
        SpeakerAsked("manager", "admin", ("ann", "bob"), "auto"),
        SpeakerGiven("ann", model="gpt", host="h"),
        SpeakerAsked("manager", "admin", ("ann", "bob"), "random"),
        SpeakerGiven("ann"),
        said("manager", "ann", "Your turn."),
        ModelAsked("ann", "manager", 2),
        ModelReplied(Message("Hi."), "gpt", host="h"),
        said("ann", "manager", "Hi."),
        Relayed("manager", "ann", ("bob",)),
        ModelAsked("bob", "manager", 2),
        ModelReplied(Message("Hi."), "gpt", host="h"),
    ]

    rows = requests(log)

    assert [row.why for row in rows] == ["who speaks next", "a reply", "a reply"]
    assert texts(rows[1]) == [("admin", "Go."), ("manager", "Your turn.")]
    assert texts(rows[2]) == [("admin", "Go."), ("ann", "Hi.")]


def test_what_went_to_the_models_of_a_team() -> None:
    log: list[Recorded] = [
        said("user", "team", "Go."),
        ModelAsked("ann", "team", 1),
        ModelReplied(Message("Hi."), "gpt"),
        said("ann", "team", "Hi."),
        ModelAsked("bob", "team", 2),
        ModelReplied(Message("Ho."), "gpt"),
        said("bob", "team", "Ho."),
        ModelAsked("ann", "team", 3),
        ModelReplied(Message("Ha."), "gpt"),
    ]

    assert [texts(row) for row in requests(log)] == [
        [("user", "Go.")],
        [("user", "Go."), ("ann", "Hi.")],
        [("bob", "Ho.")],
    ]
