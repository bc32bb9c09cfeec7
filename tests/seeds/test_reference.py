from collections.abc import Mapping
from typing import Any

import autogen_nb
from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.testing import ScriptedModel

# Taken from the package itself, a name also tells where chats are shown; its modules alone do not.
assert autogen_nb.UserProxyAgent is UserProxyAgent


def test_methods_to_override() -> None:
    called: list[str] = []

    class Own(UserProxyAgent):
        def get_human_input(self, prompt: str) -> str:
            called.append("get_human_input")
            return "exit" if called.count("get_human_input") == 3 else ""

        def run_code(self, code: str, **kwargs: object) -> tuple[int, str, str | None]:
            called.append("run_code")
            return 0, code, None

        def execute_function(self, func_call: Mapping[str, Any], *args: Any) -> tuple[bool, dict[str, Any]]:
            called.append("execute_function")
            return True, {"role": "function", "name": func_call["name"], "content": "three"}

        def generate_init_message(self, *args: object, **context: object) -> str:
            called.append("generate_init_message")
            return f"Begin with {context['what']}."

    def reply(*_: object, **__: object) -> tuple[bool, None]:
        called.append("reply")
        return False, None

    call = {"content": None, "function_call": {"name": "add", "arguments": "{}"}}
    model = ScriptedModel(["```python\nprint(1)\n```", call, "well"])
    assistant = ConversableAgent("assistant", llm_config=model, human_input_mode="NEVER")
    user = Own("user")
    user.register_reply(ConversableAgent, reply)
    said = user.initiate_chat(assistant, what="care", silent=True).chat_history

    assert said[0]["content"] == "Begin with care."
    assert said[2]["content"].endswith("print(1)")
    assert said[4]["content"] == "three"
    assert set(called) == {"get_human_input", "run_code", "execute_function", "generate_init_message", "reply"}
