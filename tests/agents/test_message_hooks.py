from typing import Any

import pytest

from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import Kept, MessagesGiven
from autogen_nb.messages import Message
from tests.agents.chatting import assistant, chat, contents, user


def test_log_does_not_repeat_the_history() -> None:
    helper = assistant("One.", "Two.")
    helper.register_hook("process_all_messages_before_reply", lambda messages: [*messages, {"content": "P.S."}])

    result = chat("sync", user(max_consecutive_auto_reply=1), helper, message="Begin.")

    given = [event for event in result.log if isinstance(event, MessagesGiven)]
    assert [event.messages for event in given] == [(Kept(0, 1), Message("P.S.")), (Kept(0, 3), Message("P.S."))]


def test_calls_and_exit_are_left_alone() -> None:
    helper = assistant("One.")
    helper.register_hook("process_last_received_message", lambda _: "changed")
    messages: list[dict[str, Any]] = [
        {"content": "exit"},
        {"content": "c", "function_call": {"name": "f", "arguments": "{}"}},
        {"content": "", "role": "user"},
    ]

    assert [helper.process_last_received_message([each]) for each in messages] == [[each] for each in messages]
    assert helper.process_last_received_message([{"content": "a"}, {"content": "b"}])[1] == {"content": "changed"}


@pytest.mark.parametrize(
    ("method", "hook", "told"),
    [
        ("process_last_received_message", lambda _: 1 / 0, "the hook '<lambda>' for process_last_received_message"),
        ("process_all_messages_before_reply", lambda _: None, "returned None; it must return a list of messages"),
    ],
)
def test_hook_that_fails_is_named(method: str, hook: Any, told: str) -> None:
    helper = assistant("One.")
    helper.register_hook(method, hook)

    with pytest.raises(CallbackError, match="of assistant") as error:
        chat("sync", user(), helper, message="Begin.")

    assert told in str(error.value)


def test_registering() -> None:
    helper = assistant()
    helper.register_hook("process_message_before_send", print)

    with pytest.raises(ConfigError, match="'process' takes no hook; hookable methods are process_last"):
        helper.register_hook("process", print)
    with pytest.raises(ConfigError, match="register_hook takes a function, not 3"):
        helper.register_hook("process_message_before_send", 3)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ConfigError, match="'print' is registered for process_message_before_send of assistant"):
        helper.register_hook("process_message_before_send", print)


def test_hooks_decide_what_ends_a_chat() -> None:
    helper = assistant("One.")
    helper.register_hook("process_last_received_message", lambda _: "TERMINATE")

    assert contents(chat("sync", user(), helper, message="Begin.")) == ["Begin."]
