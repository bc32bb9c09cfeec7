import inspect
from collections.abc import Callable
from typing import Any

import pytest

import autogen_nb as autogen

NAMES = """
ConversableAgent AssistantAgent UserProxyAgent GroupChatManager initiate_chats a_initiate_chats
register_function gather_usage_summary RoundRobinGroupChat SelectorGroupChat Console
ConversableAgent.send ConversableAgent.a_send ConversableAgent.receive ConversableAgent.a_receive
ConversableAgent.generate_reply ConversableAgent.a_generate_reply ConversableAgent.initiate_chat
ConversableAgent.a_initiate_chat ConversableAgent.initiate_chats ConversableAgent.a_initiate_chats
ConversableAgent.get_chat_results ConversableAgent.generate_init_message ConversableAgent.get_human_input
ConversableAgent.a_get_human_input ConversableAgent.register_reply ConversableAgent.replace_reply_func
ConversableAgent.register_nested_chats ConversableAgent.register_hook ConversableAgent.register_for_llm
ConversableAgent.register_for_execution ConversableAgent.register_function ConversableAgent.execute_function
ConversableAgent.a_execute_function ConversableAgent.can_execute_function ConversableAgent.update_tool_signature
ConversableAgent.update_function_signature ConversableAgent.execute_code_blocks ConversableAgent.run_code
ConversableAgent.last_message ConversableAgent.clear_history ConversableAgent.chat_messages_for_summary
ConversableAgent.max_consecutive_auto_reply ConversableAgent.update_max_consecutive_auto_reply
ConversableAgent.reset_consecutive_auto_reply_counter ConversableAgent.stop_reply_at_receive
ConversableAgent.update_system_message ConversableAgent.generate_oai_reply ConversableAgent.a_generate_oai_reply
ConversableAgent.generate_code_execution_reply ConversableAgent.generate_function_call_reply
ConversableAgent.generate_tool_calls_reply ConversableAgent.check_termination_and_human_reply
ConversableAgent.print_usage_summary
AssistantAgent.run AssistantAgent.run_stream AssistantAgent.on_messages
GroupChatManager.run_chat GroupChatManager.a_run_chat GroupChatManager.resume
GroupChat.append GroupChat.agent_by_name GroupChat.next_agent GroupChat.select_speaker
GroupChat.a_select_speaker
BaseGroupChat.run BaseGroupChat.run_stream
""".split()

OPEN = frozenset({"initiate_chat", "a_initiate_chat", "generate_init_message"})
"""What takes further names, since AutoGen hands them on to functions that write the first message."""


def called(name: str) -> Callable[..., Any]:
    first, _, method = name.partition(".")
    found: Callable[..., Any] = getattr(autogen, first)
    return getattr(found, method) if method else found


def parameters(name: str) -> dict[str, inspect.Parameter]:
    return {key: each for key, each in inspect.signature(called(name)).parameters.items() if key != "self"}


@pytest.mark.parametrize("name", NAMES)
def test_no_parameter_hides_others(name: str) -> None:
    found = parameters(name).values()

    assert [each for each in found if each.kind is each.VAR_POSITIONAL] == []
    if name.rpartition(".")[2] not in OPEN:
        assert [each for each in found if each.kind is each.VAR_KEYWORD] == []
    assert [each for each in found if each.annotation is each.empty] == []
