from typing import Any

import pytest

from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.messages import CodeBlock
from autogen_nb.testing import ScriptedExecutor
from tests.agents.chatting import BOTH_WAYS, Way, assistant, chat, contents, user

CODE = "Two blocks:\n```python\nx = 1\n```\n```sh\nls\n```"
CALL = {"content": None, "function_call": {"name": "add", "arguments": '{"a": 1}'}}


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
