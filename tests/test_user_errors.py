"""The errors that a user will meet: one line that names the thing and the way out, and a chat that can go on.

Each is of the package's own tree, so that a program can catch all of them by `AutogenError`.
"""

from collections.abc import Iterator
from typing import Any

import pytest

import autogen_nb
from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.chats.initiated_chat import ChatOptions, ChatResult, TwoAgentChat
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.core.ports import Human
from autogen_nb.engine import engine
from autogen_nb.errors import AutogenError, CallbackError, ConfigError, ModelRefused, ModelUnavailable, NobodyThere
from autogen_nb.events import Called, HumanInputAsked, ModelAsked, Recorded
from autogen_nb.human.rule_based_approver import NobodyToAsk
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.testing import FakeOpenAI, FakeReply, ScriptedHuman
from tests.agents.chatting import BOTH_WAYS, Way, assistant, contents, events, model_of, user

KEY = "sk-a-key-that-is-nobodys"
LONGEST_LINE = 500


def talk(
    way: Way,
    proxy: ConversableAgent,
    teacher: ConversableAgent,
    log: list[Recorded],
    message: Any = "Hi?",
    human: Human | None = None,
) -> ChatResult:
    chat = TwoAgentChat(proxy, teacher, ChatOptions(message), waits=way, human=human or NobodyToAsk(), log=log)
    events(way, chat)
    return chat.result()


def told(error: BaseException, *names: str) -> None:
    assert isinstance(error, AutogenError)
    text = str(error)
    assert "\n" not in text
    assert len(text) < LONGEST_LINE
    assert [name for name in names if name not in text] == []
    assert KEY not in text


@pytest.fixture
def pupil() -> Iterator[AssistantAgent]:
    model = OpenAIModel(model="gpt-4o", max_retries=0)
    yield AssistantAgent("assistant", llm_config=model)
    engine.call(model.close())


@BOTH_WAYS
@pytest.mark.parametrize(
    ("environ", "replies", "kind", "names"),
    [
        pytest.param({}, [], ConfigError, ["OPENAI_API_KEY", "api_key", "base_url", "'offline'"], id="no key"),
        pytest.param(
            {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"},
            [],
            ModelUnavailable,
            ["127.0.0.1:1", "refused the connection", "is a server running there?"],
            id="server that is down",
        ),
        pytest.param(
            {"OPENAI_API_KEY": KEY},
            ["One.", FakeReply(status=401, error=f"Incorrect API key provided: {KEY}.")],
            ModelRefused,
            ["127.0.0.1", "401", "Give a valid key", "api_key", "OPENAI_API_KEY"],
            id="bad key",
        ),
        pytest.param(
            {"OPENAI_API_KEY": KEY},
            ["One.", FakeReply(status=404, error="The model does not exist")],
            ModelRefused,
            ["127.0.0.1", "404", "The model does not exist", "Check the model's name", "base_url"],
            id="unknown model",
        ),
    ],
)
def test_a_chat_continues_after_the_servers_error(
    way: Way,
    pupil: AssistantAgent,
    environ: dict[str, str],
    replies: list[Any],
    kind: type[Exception],
    names: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log: list[Recorded] = []
    proxy = user()
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    with FakeOpenAI([*replies, "TERMINATE"]) as server:
        if replies:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with pytest.raises(kind) as failed:
            talk(way, proxy, pupil, log)
        open_question = log[-1]
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        result = talk(way, proxy, pupil, log)

    told(failed.value, "'gpt-4o'", *names)
    assert isinstance(open_question, ModelAsked)
    assert contents(result) == ["Hi?", *(["One.", "Go on."] if replies else []), "TERMINATE"]
    assert len(server.requests) == len(replies) + 1
    assert KEY not in repr(log)


@BOTH_WAYS
def test_a_predicate_that_raises(way: Way) -> None:
    log: list[Recorded] = []
    call = {"content": None, "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
    pupil = assistant(call, "TERMINATE")

    with pytest.raises(CallbackError) as failed:
        talk(way, user(is_termination_msg=lambda message: "TERMINATE" in message["content"]), pupil, log)
    open_question = log[-1]
    result = talk(way, user(is_termination_msg=lambda message: message["content"] == "TERMINATE"), pupil, log)

    told(failed.value, "is_termination_msg of user", "TypeError", "the message None")
    assert isinstance(failed.value.__cause__, TypeError)
    assert isinstance(open_question, Called)
    assert open_question.function == "is_termination_msg"
    assert contents(result)[1:] == [None, "Error: there is no function 'f'; known are: none", "TERMINATE"]
    assert len(model_of(pupil).requests) == 2


@BOTH_WAYS
def test_missing_message_in_an_unattended_run(way: Way) -> None:
    log: list[Recorded] = []
    proxy, pupil = user(), assistant("TERMINATE")

    with pytest.raises(NobodyThere) as failed:
        talk(way, proxy, pupil, log, message=None)
    open_question = log[-1]
    result = talk(way, proxy, pupil, log, message=None, human=ScriptedHuman(["Typed."]))

    told(failed.value, "user", "nobody is there")
    assert isinstance(open_question, HumanInputAsked)
    assert contents(result) == ["Typed.", "TERMINATE"]
    assert result.human_input == ["Typed."]


BEFORE_ANYTHING = [
    pytest.param(
        lambda: assistant().initiate_chat(AssistantAgent("assistant"), message="Hi."),
        ValueError,
        ["'assistant'", "names must differ"],
        id="one name for both",
    ),
    pytest.param(
        lambda: ConversableAgent("thinker").run_code("1"),
        ValueError,
        ["thinker", "give it a code_execution_config"],
        id="no executor",
    ),
    pytest.param(
        lambda: user().send({"role": "user"}, assistant()),
        ValueError,
        ["no content", "cannot be sent"],
        id="a message that says nothing",
    ),
    pytest.param(
        lambda: user().initiate_chat(assistant(), message=3, silent=True),
        TypeError,
        ["3", "a str, a dict, a callable or None"],
        id="a message of another type",
    ),
]


@pytest.mark.parametrize(("make", "kind", "names"), BEFORE_ANYTHING)
def test_invalid_arguments_are_refused_before_anything_runs(make: Any, kind: type[Exception], names: list[str]) -> None:
    with pytest.raises(kind) as failed:
        make()

    told(failed.value, *names)


def test_a_name_that_is_misspelt_is_told_as_python_tells_it() -> None:
    with pytest.raises(AttributeError, match=r"^module 'autogen_nb' has no attribute 'AssistentAgent'$"):
        _ = autogen_nb.AssistentAgent  # type: ignore[attr-defined]  # that is what is tested
