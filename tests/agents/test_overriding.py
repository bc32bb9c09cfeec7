from typing import Any

import pytest

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.errors import CallbackError, ConfigError
from autogen_nb.events import Kept, Returned
from autogen_nb.messages import CodeBlock, Message
from autogen_nb.testing import ScriptedExecutor, ScriptedModel
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, contents, user
from tests.agents.teams import calling

CODE = "Two blocks:\n```python\nx = 1\n```\n```sh\nls\n```"
ADDS = {"content": None, "function_call": {"name": "add", "arguments": "{}"}}


class Typing(UserProxyAgent):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.words = ["first words", "exit"]
        self.prompts: list[str] = []

    def get_human_input(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self.words.pop(0)


class AwaitedTyping(Typing):
    async def a_get_human_input(self, prompt: str) -> str:
        return f"awaited {self.get_human_input(prompt)}".replace("awaited exit", "exit")


@BOTH_WAYS
@pytest.mark.parametrize(
    ("call", "response"),
    [(ADDS, {"role": "function", "name": "add"}), (calling("add"), {"role": "tool", "tool_call_id": "call add"})],
    ids=["function", "tool"],
)
def test_get_human_input(way: Way, call: dict[str, Any], response: dict[str, str]) -> None:
    proxy = user(Typing, human_input_mode="ALWAYS")

    result = chat(way, proxy, assistant(call, "Two."), message="Begin.")

    assert contents(result) == ["Begin.", None, "first words", "Two."]
    content = "The user interrupted: this was not called."
    assert result.chat_history[2]["tool_responses"] == [{**response, "content": content}]
    assert result.human_input == ["first words", "exit"]
    assert len(proxy.prompts) == 2


def test_a_get_human_input() -> None:
    sync = chat("sync", user(AwaitedTyping, human_input_mode="ALWAYS"), assistant("One.", "Two."), message="Begin.")
    awaited = chat("async", user(AwaitedTyping, human_input_mode="ALWAYS"), assistant("One.", "Two."), message="Begin.")

    assert sync.human_input == ["first words", "exit"]
    assert awaited.human_input == ["awaited first words", "exit"]


class Awaited(UserProxyAgent):
    async def a_generate_init_message(self, message: Any, **context: Any) -> str:
        return f"{message} Please."

    async def a_execute_function(self, func_call: Any, verbose: bool = False) -> tuple[bool, dict[str, Any]]:
        return True, {"content": f"{func_call['name']} was awaited"}


def test_overridden_async_forms_are_called_in_async_chats() -> None:
    proxy = user(Awaited, function_map={"add": lambda: "3"})
    sync = chat("sync", proxy, assistant(ADDS, "Done."), message="Begin.", max_turns=2)
    awaited = chat("async", proxy, assistant(ADDS, "Done."), message="Begin.", max_turns=2)

    assert contents(sync)[::2] == ["Begin.", "3"]
    assert contents(awaited)[::2] == ["Begin. Please.", "add was awaited"]


@BOTH_WAYS
def test_an_overridden_method_may_call_the_own_one(way: Way) -> None:
    class Counting(UserProxyAgent):
        def run_code(self, code: str, **kwargs: Any) -> tuple[int, str, str | None]:
            exit_code, log, image = super().run_code(code, **kwargs)
            return exit_code, f"[{log}]", image

    executor = ScriptedExecutor({"x = 1": "one", "ls": "two"})
    proxy = user(Counting, code_execution_config={"executor": executor}, max_consecutive_auto_reply=1)

    result = chat(way, proxy, assistant(CODE, "Done."), message="Run.")

    assert contents(result)[2].endswith("Code output: [one]\n[two]")
    assert executor.blocks == [CodeBlock("python", "x = 1"), CodeBlock("sh", "ls")]


def test_usage_of_an_overridden_reply_is_counted() -> None:
    class Polite(ConversableAgent):
        def generate_reply(self, messages: Any = None, sender: Any = None, exclude: Any = ()) -> Any:
            return f"{super().generate_reply(messages, sender, exclude)} Thanks."

    helper = Polite("assistant", llm_config=ScriptedModel(["One."]), human_input_mode="NEVER")

    result = chat("sync", user(max_consecutive_auto_reply=0), helper, message="Begin.")

    included = result.cost["usage_including_cached_inference"]
    assert included == helper.get_total_usage() == helper.get_actual_usage()
    assert len(included) > 1


def test_reply_function_reads_the_history_by_autogens_private_names() -> None:
    class Echo(ConversableAgent):
        def echo(self, messages: Any, sender: Any, config: Any) -> tuple[bool, Any]:
            return True, self._message_to_dict(self._oai_messages[sender][-1]["content"].upper())

    echo = Echo("echo")
    echo.register_reply([Agent, None], Echo.echo)

    assert contents(chat("sync", user(), echo, message="hi", max_turns=1)) == ["hi", "HI"]


def test_wrong_reply_is_named() -> None:
    class Wrong(ConversableAgent):
        def generate_reply(self, messages: Any = None, sender: Any = None, exclude: Any = ()) -> Any:
            return 3

    with pytest.raises(CallbackError, match=r"generate_reply of wrong returned 3; it must return"):
        chat("sync", user(), Wrong("wrong"), message="Begin.")


def test_log_of_hooks_does_not_repeat_the_history() -> None:
    helper = assistant("One.", "Two.")
    helper.register_hook("process_all_messages_before_reply", lambda messages: [*messages, {"content": "P.S."}])

    result = chat("sync", user(max_consecutive_auto_reply=1), helper, message="Begin.")

    given = [event for event in result.log if isinstance(event, Returned)]
    assert [event.messages for event in given] == [(Kept(0, 1), Message("P.S.")), (Kept(0, 3), Message("P.S."))]


def test_hooks_leave_calls_and_exit_alone() -> None:
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


def test_registering_a_hook() -> None:
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
