import inspect
import sys
from collections.abc import Callable
from typing import Any

import pytest

import autogen_nb as autogen

SUMMED = "last_msg"

CHAT = {
    "recipient": ...,
    "clear_history": True,
    "silent": False,
    "cache": None,
    "max_turns": None,
    "summary_method": SUMMED,
    # A shared dict in AutoGen 0.2, which a caller could change for all chats.
    "summary_args": None,
    "message": None,
}
MESSAGE = {"message": ..., "recipient": ..., "request_reply": None, "silent": False}
RECEIVED = {"message": ..., "sender": ..., "request_reply": None, "silent": False}
REPLY = {"messages": None, "sender": None}
RUN = {"task": None, "cancellation_token": None, "output_task_messages": True}
STEP = {"messages": None, "sender": None, "config": None}

PUBLISHED: dict[str, dict[str, Any]] = {
    "ConversableAgent": {
        "name": ...,
        "system_message": "You are a helpful assistant.",  # our own words
        "is_termination_msg": None,
        "max_consecutive_auto_reply": None,
        "human_input_mode": "TERMINATE",
        "function_map": None,
        "code_execution_config": False,
        "llm_config": None,
        "default_auto_reply": "",
        "description": None,
        "chat_messages": None,
        "silent": None,
    },
    "AssistantAgent": {
        "name": ...,
        "system_message": autogen.AssistantAgent.DEFAULT_SYSTEM_MESSAGE,
        "llm_config": None,
        "is_termination_msg": None,
        "max_consecutive_auto_reply": None,
        "human_input_mode": "NEVER",
        "description": None,
    },
    "UserProxyAgent": {
        "name": ...,
        "is_termination_msg": None,
        "max_consecutive_auto_reply": None,
        "human_input_mode": "ALWAYS",
        "function_map": None,
        "code_execution_config": None,  # a dict in AutoGen 0.2; None stands for the empty one
        "default_auto_reply": "",
        "llm_config": False,
        "system_message": "",
        "description": None,
    },
    "GroupChatManager": {
        "groupchat": None,  # AutoGen 0.2 has no default, and says that a group is missing in other words
        "name": "chat_manager",
        "max_consecutive_auto_reply": sys.maxsize,
        "human_input_mode": "NEVER",
        "system_message": "You lead a group of agents.",  # our own words
        "silent": None,
    },
    "ConversableAgent.send": MESSAGE,
    "ConversableAgent.a_send": MESSAGE,
    "ConversableAgent.receive": RECEIVED,
    "ConversableAgent.a_receive": RECEIVED,
    "ConversableAgent.generate_reply": REPLY,
    "ConversableAgent.a_generate_reply": REPLY,
    "ConversableAgent.initiate_chat": CHAT,
    "ConversableAgent.a_initiate_chat": CHAT,
    "ConversableAgent.initiate_chats": {"chat_queue": ...},
    "ConversableAgent.a_initiate_chats": {"chat_queue": ...},
    "ConversableAgent.get_chat_results": {"chat_index": None},
    "ConversableAgent.generate_init_message": {"message": ...},
    "ConversableAgent.get_human_input": {"prompt": ...},
    "ConversableAgent.a_get_human_input": {"prompt": ...},
    "ConversableAgent.register_reply": {
        "trigger": ...,
        "reply_func": ...,
        "position": 0,
        "config": None,
        "reset_config": None,
        "ignore_async_in_sync_chat": False,
        "remove_other_reply_funcs": False,
    },
    "ConversableAgent.replace_reply_func": {"old_reply_func": ..., "new_reply_func": ...},
    "ConversableAgent.register_nested_chats": {
        "chat_queue": ...,
        "trigger": ...,
        "reply_func_from_nested_chats": "summary_from_nested_chats",
        "position": 2,
        "use_async": None,
    },
    "ConversableAgent.register_hook": {"hookable_method": ..., "hook": ...},
    "ConversableAgent.register_for_llm": {"name": None, "description": None, "api_style": "tool"},
    "ConversableAgent.register_for_execution": {"name": None},
    "ConversableAgent.register_function": {"function_map": ...},
    "ConversableAgent.execute_function": {"func_call": ..., "verbose": False},
    "ConversableAgent.a_execute_function": {"func_call": ..., "verbose": False},
    "ConversableAgent.can_execute_function": {"name": ...},
    "ConversableAgent.update_tool_signature": {"tool_sig": ..., "is_remove": ...},
    "ConversableAgent.update_function_signature": {"func_sig": ..., "is_remove": ...},
    "ConversableAgent.execute_code_blocks": {"code_blocks": ...},
    "ConversableAgent.run_code": {"code": ...},
    "ConversableAgent.last_message": {"agent": None},
    "ConversableAgent.clear_history": {"recipient": None, "nr_messages_to_preserve": None},
    "ConversableAgent.chat_messages_for_summary": {"agent": ...},
    "ConversableAgent.max_consecutive_auto_reply": {"sender": None},
    "ConversableAgent.update_max_consecutive_auto_reply": {"value": ..., "sender": None},
    "ConversableAgent.reset_consecutive_auto_reply_counter": {"sender": None},
    "ConversableAgent.stop_reply_at_receive": {"sender": None},
    "ConversableAgent.update_system_message": {"system_message": ...},
    "ConversableAgent.generate_oai_reply": STEP,
    "ConversableAgent.a_generate_oai_reply": STEP,
    "ConversableAgent.generate_code_execution_reply": STEP,
    "ConversableAgent.generate_function_call_reply": STEP,
    "ConversableAgent.generate_tool_calls_reply": STEP,
    "ConversableAgent.check_termination_and_human_reply": STEP,
    "ConversableAgent.print_usage_summary": {"mode": ("actual", "total")},
    "GroupChat.append": {"message": ..., "speaker": ...},
    "GroupChat.agent_by_name": {"name": ..., "recursive": False, "raise_on_name_conflict": False},
    "GroupChat.next_agent": {"agent": ..., "agents": None},
    "GroupChat.select_speaker": {"last_speaker": ..., "selector": ...},
    "GroupChat.a_select_speaker": {"last_speaker": ..., "selector": ...},
    "GroupChatManager.run_chat": STEP,
    "GroupChatManager.a_run_chat": STEP,
    "GroupChatManager.resume": {"messages": ..., "remove_termination_string": None, "silent": False},
    "initiate_chats": {"chat_queue": ...},
    "a_initiate_chats": {"chat_queue": ...},
    "register_function": {"f": ..., "caller": ..., "executor": ..., "name": None, "description": ...},
    "gather_usage_summary": {"agents": ...},
    # AgentChat's.
    "AssistantAgent.run": RUN,
    "AssistantAgent.run_stream": RUN,
    "AssistantAgent.on_messages": {"messages": ..., "cancellation_token": ...},
    "BaseGroupChat.run": RUN,
    "BaseGroupChat.run_stream": RUN,
    "RoundRobinGroupChat": {"participants": ..., "termination_condition": None, "max_turns": None},
    "SelectorGroupChat": {
        "participants": ...,
        "model_client": ...,
        "termination_condition": None,
        "max_turns": None,
        "allow_repeated_speaker": False,
        "max_selector_attempts": 3,
        "selector_func": None,
        "candidate_func": None,
    },
    "Console": {"stream": ..., "no_inline_images": False, "output_stats": False},
}
"""What can be called, with its parameters in order; `...` stands for no default, or for one that we add."""

OPEN = frozenset({"initiate_chat", "a_initiate_chat", "generate_init_message"})
"""What takes further names, since AutoGen hands them on to functions that write the first message."""


def called(name: str) -> Callable[..., Any]:
    first, _, method = name.partition(".")
    found: Callable[..., Any] = getattr(autogen, first)
    return getattr(found, method) if method else found


def parameters(name: str) -> dict[str, inspect.Parameter]:
    return {key: each for key, each in inspect.signature(called(name)).parameters.items() if key != "self"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_no_parameter_hides_others(name: str) -> None:
    found = parameters(name).values()

    assert [each for each in found if each.kind is each.VAR_POSITIONAL] == []
    if name.rpartition(".")[2] not in OPEN:
        assert [each for each in found if each.kind is each.VAR_KEYWORD] == []
    assert [each for each in found if each.annotation is each.empty] == []
