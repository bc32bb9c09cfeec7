from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from autogen_nb.agents.assistant import AssistantAgent
from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.messages import CodeBlock
from autogen_nb.testing import ScriptedExecutor
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, contents, model_of, user

CODE = "Two blocks:\n```python\nx = 1\n```\n```sh\nls\n```"
CALL = {"content": None, "function_call": {"name": "add", "arguments": '{"a": 1}'}}
TOOLS = {
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}},
        {"id": "c2", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}},
    ],
}


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
def test_get_human_input(way: Way) -> None:
    proxy = user(Typing, human_input_mode="ALWAYS")

    result = chat(way, proxy, assistant("One.", "Two."), message="Begin.")

    assert contents(result) == ["Begin.", "One.", "first words", "Two."]
    assert result.human_input == ["first words", "exit"]
    assert len(proxy.prompts) == 2


def test_a_get_human_input() -> None:
    sync = chat("sync", user(AwaitedTyping, human_input_mode="ALWAYS"), assistant("One.", "Two."), message="Begin.")
    awaited = chat("async", user(AwaitedTyping, human_input_mode="ALWAYS"), assistant("One.", "Two."), message="Begin.")

    assert sync.human_input == ["first words", "exit"]
    assert awaited.human_input == ["awaited first words", "exit"]


class Running(UserProxyAgent):
    ran: Sequence[tuple[str, str]] = ()

    def execute_code_blocks(self, code_blocks: Sequence[tuple[str, str]]) -> tuple[int, str]:
        self.ran = list(code_blocks)
        return 3, "my own output"


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


class Calling(UserProxyAgent):
    def execute_function(self, func_call: Mapping[str, Any], verbose: bool = False) -> tuple[bool, dict[str, Any]]:
        content = f"called {func_call['name']} with {func_call['arguments']}"
        return True, {"name": func_call["name"], "role": "function", "content": content}


@BOTH_WAYS
@pytest.mark.parametrize(
    ("message", "content"),
    [(CALL, 'called add with {"a": 1}'), (TOOLS, 'called add with {"a": 1}\n\ncalled add with {"a": 2}')],
    ids=["function", "tools"],
)
def test_execute_function(way: Way, message: dict[str, Any], content: str) -> None:
    result = chat(way, user(Calling, max_consecutive_auto_reply=1), assistant(message, "Done."), message="Add.")

    assert contents(result)[2] == content


class Counting(AssistantAgent):
    @property
    def system_message(self) -> str:
        return f"{len(self.chat_messages)} chat(s). {super().system_message}"

    @property
    def chat_messages(self) -> Mapping[Agent, list[dict[str, Any]]]:
        return {peer: list(messages) for peer, messages in super().chat_messages.items()}


class Opening(UserProxyAgent):
    def generate_init_message(self, message: Any, **kwargs: Any) -> str:
        return f"{message} with {sorted(kwargs)}"


@BOTH_WAYS
def test_generate_init_message(way: Way) -> None:
    result = chat(
        way, user(Opening, max_consecutive_auto_reply=0), assistant("One."), message="Begin", carryover="x", z=1
    )

    assert contents(result)[0] == "Begin with ['carryover', 'z']"


@BOTH_WAYS
def test_without_a_message_the_own_words_open(way: Way) -> None:
    result = chat(way, user(Typing, max_consecutive_auto_reply=0), assistant("One."))

    assert contents(result)[0] == "first words"


@BOTH_WAYS
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_functions_of_either_kind(way: Way, kind: str) -> None:
    def add(a: int) -> dict[str, int]:
        return {"sum": a + 1}

    async def a_add(a: int) -> dict[str, int]:
        return {"sum": a + 1}

    function_map = {"add": {"sync": add, "async": a_add}[kind]}
    result = chat(
        way, user(function_map=function_map, max_consecutive_auto_reply=1), assistant(CALL, "Done."), message="Add."
    )

    assert contents(result)[2] == '{"sum": 2}'


@BOTH_WAYS
@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("nope", "{}", "Error: there is no function 'nope'; known are: add"),
        ("add", "{bad", "Error: the arguments of 'add' are not JSON"),
        ("add", "[1]", "Error: the arguments of 'add' are not a JSON object"),
        ("add", "{}", "Error: TypeError:"),
    ],
)
def test_a_call_that_fails_is_an_answer(way: Way, name: str, arguments: str, said: str) -> None:
    call = {"content": None, "function_call": {"name": name, "arguments": arguments}}

    def add(a: int) -> int:
        return a

    teacher = assistant(call, "Sorry.")
    result = chat(way, user(function_map={"add": add}, max_consecutive_auto_reply=1), teacher, message="Add.")

    assert contents(result)[2].startswith(said)
    assert contents(result)[3] == "Sorry."
    assert len(model_of(teacher).requests) == 2
