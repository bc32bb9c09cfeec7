from types import SimpleNamespace
from typing import Any

import pytest

from autogen_nb import AssistantAgent, ConversableAgent, GroupChat, GroupChatManager, OpenAIWrapper, UserProxyAgent
from autogen_nb.errors import CallbackError, ConfigError
from tests.agents.chatting import chat, contents

ENTRY = {"model": "mine", "model_client_cls": "Client", "device": "cpu"}


class Client:
    last: "Client"

    def __init__(self, config: dict[str, Any], text: str = "hi") -> None:
        self.config, self.text = config, text
        self.requests: list[dict[str, Any]] = []
        Client.last = self

    def create(self, params: dict[str, Any]) -> Any:
        self.requests.append(params)
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=self.text))], model="mine-2")

    def message_retrieval(self, response: Any) -> list[Any]:
        return [choice.message for choice in response.choices]

    def cost(self, response: Any) -> float:
        return 0.5

    @staticmethod
    def get_usage(response: Any) -> dict[str, Any]:
        return {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7, "cost": 0.5, "model": response.model}


def agents(**config: Any) -> tuple[AssistantAgent, UserProxyAgent]:
    proxy = UserProxyAgent("user", code_execution_config=False, human_input_mode="NEVER")
    return AssistantAgent("teacher", "Be brief.", {"config_list": [ENTRY], **config}), proxy


def test_client_of_a_registered_class_replies() -> None:
    teacher, proxy = agents(temperature=0.3)

    teacher.register_model_client(Client, text="hello")
    result = chat("sync", proxy, teacher, message="Hi.", max_turns=1)

    assert contents(result) == ["Hi.", "hello"]
    assert Client.last.config == ENTRY
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "name": "user", "content": "Hi."}]
    assert Client.last.requests == [{**ENTRY, "temperature": 0.3, "messages": messages}]
    used = result.cost["usage_including_cached_inference"]["mine-2"]
    assert used == {"cost": 0.5, "prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


def test_class_that_is_not_registered_or_not_named() -> None:
    teacher, proxy = agents()

    with pytest.raises(ConfigError, match="'Client' is not registered; call register_model_client"):
        chat("sync", proxy, teacher, message="Hi.")
    with pytest.raises(ConfigError, match="no entry of the config list names 'dict'"):
        teacher.register_model_client(dict)


def test_error_of_a_client_names_its_class(monkeypatch: pytest.MonkeyPatch) -> None:
    teacher, proxy = agents()
    monkeypatch.setattr(Client, "cost", lambda *_: 1 / 0)
    teacher.register_model_client(Client)

    with pytest.raises(CallbackError, match="the model client Client raised ZeroDivisionError"):
        chat("sync", proxy, teacher, message="Hi.")


def test_client_of_a_wrapper_replies() -> None:
    wrapper = OpenAIWrapper(config_list=[ENTRY])
    wrapper.register_model_client(Client, text="hello")

    assert wrapper.create(prompt="Hi.").choices[0].message.content == "hello"


def test_client_of_an_agent_is_in_its_usage() -> None:
    teacher, _ = agents()
    teacher.register_model_client(Client, text="hello")

    assert teacher.client.create(prompt="Hi.").choices[0].message.content == "hello"
    assert teacher.get_total_usage() == teacher.client.total_usage_summary
    teacher.client.clear_usage_summary()
    assert teacher.get_total_usage() is None


@pytest.mark.parametrize("classes", [Client, [Client]])
def test_client_of_a_group_selects_its_speakers(classes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Client, "message_retrieval", lambda *_: ["b"])
    first, second = (ConversableAgent(name, human_input_mode="NEVER", default_auto_reply=name) for name in "ab")
    group = GroupChat(
        [first, second],
        max_round=2,
        select_speaker_auto_llm_config={"config_list": [ENTRY]},
        select_speaker_auto_model_client_cls=classes,
    )

    result = first.initiate_chat(GroupChatManager(group, human_input_mode="NEVER"), message="Hi.", silent=True)

    assert [message["name"] for message in result.chat_history] == ["a", "b"]
