import asyncio
import functools
from typing import Any

from autogen_nb.agents.conversable import ConversableAgent
from autogen_nb.testing import ScriptedExecutor
from tests.agents.chatting import assistant, chat, contents, user

CODE = [{"content": "```python\nx = 1\n```", "role": "user"}]


def test_single_steps() -> None:
    words = [{"content": "Hello.", "role": "user"}]
    call = {"content": None, "function_call": {"name": "f", "arguments": "{}"}}
    proxy = user(
        code_execution_config={"executor": ScriptedExecutor({"x = 1": ""})}, function_map={"f": lambda: "done"}
    )

    assert proxy.generate_oai_reply(words) == (False, None)
    assert proxy.generate_function_call_reply(words) == (False, None)
    assert proxy.generate_function_call_reply([call])[1]["content"] == "done"
    assert proxy.generate_tool_calls_reply([call])[0]
    assert proxy.generate_code_execution_reply(CODE)[0]
    assert proxy.check_termination_and_human_reply(words) == (False, None)
    assert proxy.check_termination_and_human_reply([{"content": "TERMINATE"}]) == (True, None)
    assert assistant("One.").generate_oai_reply(words) == (True, "One.")
    assert asyncio.run(assistant("One.").a_generate_oai_reply(words)) == (True, "One.")
    assert asyncio.run(proxy.a_generate_tool_calls_reply([call]))[1]["content"] == "done"
    assert asyncio.run(proxy.a_check_termination_and_human_reply([{"content": "TERMINATE"}])) == (True, None)


def test_a_function_around_a_step_is_none_itself() -> None:
    @functools.wraps(ConversableAgent.generate_oai_reply)
    def shouted(agent: ConversableAgent, messages: Any, sender: Any, config: Any) -> Any:
        del config
        return True, str(agent.generate_reply(messages, sender, exclude=[shouted])).upper()

    helper = assistant("One.", default_auto_reply="Default.")
    helper.register_reply(ConversableAgent, shouted)

    assert contents(chat("sync", user(max_consecutive_auto_reply=0), helper, message="x")) == ["x", "ONE."]


class Quoting(ConversableAgent):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.replace_reply_func(ConversableAgent.generate_oai_reply, Quoting.quoted)

    def quoted(self, messages: Any = None, sender: Any = None, config: Any = None) -> Any:
        final, said = self.generate_oai_reply(messages, sender, config)
        return final, f"«{said}»"


def test_step_within_a_replacement() -> None:
    helper = Quoting("assistant", llm_config=assistant("One.").model, human_input_mode="NEVER")
    proxy = user()
    helper.update_max_consecutive_auto_reply(1, proxy)

    assert contents(chat("sync", proxy, helper, message="x")) == ["x", "«One.»", "Go on."]
    assert (helper.max_consecutive_auto_reply(proxy), helper.max_consecutive_auto_reply()) == (1, 100)
    helper.update_max_consecutive_auto_reply(5)
    assert helper.max_consecutive_auto_reply(proxy) == 5
