import inspect
from collections.abc import Callable
from typing import Any

import pytest

import autogen_nb
from autogen_nb.errors import AutogenError
from autogen_nb.testing import ScriptedExecutor

REQUIRED = inspect.Parameter.empty
OWN = object()
"""A default in AutoGen's own words, or a mutable one, in whose place ours stands."""

# Names, order and defaults of AutoGen 0.2.40.
CONVERSABLE: dict[str, Any] = {
    "name": REQUIRED, "system_message": OWN, "is_termination_msg": None, "max_consecutive_auto_reply": None,
    "human_input_mode": "TERMINATE", "function_map": None, "code_execution_config": False, "llm_config": None,
    "default_auto_reply": "", "description": None, "chat_messages": None, "silent": None,
}  # fmt: skip
ASSISTANT: dict[str, Any] = {
    "name": REQUIRED, "system_message": OWN, "llm_config": None, "is_termination_msg": None,
    "max_consecutive_auto_reply": None, "human_input_mode": "NEVER", "description": None,
}  # fmt: skip
USER_PROXY: dict[str, Any] = {
    "name": REQUIRED, "is_termination_msg": None, "max_consecutive_auto_reply": None, "human_input_mode": "ALWAYS",
    "function_map": None, "code_execution_config": OWN, "default_auto_reply": "", "llm_config": False,
    "system_message": "", "description": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("cls", "known"),
    [
        (autogen_nb.ConversableAgent, CONVERSABLE),
        (autogen_nb.AssistantAgent, ASSISTANT),
        (autogen_nb.UserProxyAgent, USER_PROXY),
    ],
    ids=["conversable", "assistant", "user-proxy"],
)
def test_names_order_and_defaults(cls: type, known: dict[str, Any]) -> None:
    parameters = inspect.signature(cls).parameters
    ours = {name: each.default for name, each in parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD}

    assert list(ours) == list(known)
    assert [name for name, default in known.items() if default is not OWN and ours[name] != default] == []


@pytest.mark.parametrize(
    ("config", "kind", "said"),
    [
        ({"wrk_dir": "x"}, TypeError, "did you mean 'work_dir'?"),
        ({"last_n_message": 1}, TypeError, "did you mean 'last_n_messages'?"),
        ({"zzz": 1}, TypeError, "known keys are"),
        ("work", TypeError, "it must be a dict"),
        (True, TypeError, "it must be a dict"),
        *(
            (
                {name: ScriptedExecutor({}), key: value},
                ValueError,
                f"executor= cannot be combined with {key}; configure the executor",
            )
            for name in ("executor", "code_executor")
            for key, value in {"work_dir": "x", "timeout": 3, "use_docker": "x"}.items()
        ),
        ({"executor": "jupyter"}, ValueError, "it must be an executor"),
        ({"last_n_messages": -1}, ValueError, "last_n_messages is -1"),
        ({"last_n_messages": "all"}, ValueError, "last_n_messages is 'all'"),
        ({"last_n_messages": 1.5}, ValueError, "last_n_messages is 1.5"),
        ({"last_n_messages": True}, ValueError, "last_n_messages is True"),
        ({"last_n_messages": None}, ValueError, "last_n_messages is None"),
        ({"confirm": "perhaps"}, ValueError, "confirm is 'perhaps'"),
        ({"timeout": 0}, ValueError, "timeout is 0"),
        ({"timeout": "long"}, ValueError, "timeout is 'long'"),
        ({"use_docker": 1.5}, ValueError, "use_docker is 1.5; it must be True, False"),
        ({"use_docker": [1]}, ValueError, "an image's name or a list of names"),
        ({"use_docker": True, "sandbox": "bwrap"}, ValueError, "give one of them"),
        ({"sandbox": "jail"}, ValueError, "must be one of none, bwrap, docker"),
        ({"sandbx": "bwrap"}, TypeError, "did you mean 'sandbox'?"),
        ({"limit": {}}, TypeError, "did you mean 'limits'?"),
        ({"limits": {"memry": 1}}, ValueError, "limits has no 'memry' .did you mean 'memory'?"),
        ({"output_dir": 3}, ValueError, "output_dir is 3; it must be a folder's path"),
        ({"limits": 3}, ValueError, "limits is 3; it must be a dict"),
        ({"limits": {"cpu": 3}, "kernel": "https://host/"}, ValueError, "limits is not supported on a server"),
        ({"restore": "replay"}, TypeError, "no key .restore. any more; leave it out, and use %%autogen"),
        ({"passed": ["KEY"], "use_docker": True}, ValueError, "passed is not supported in a container"),
        ({"passed": "KEY"}, ValueError, "passed is 'KEY'; it must be a list of names"),
        ({"kernel": ""}, ValueError, "kernel is ''"),
        ({"kernel": "no-such"}, ValueError, "there is no kernelspec 'no-such'; installed are: .*python3"),
        ({"kernel": "https://"}, ValueError, "it must be http.s.://host"),
        ({"kernel": "python3", "sandbox": "bwrap"}, ValueError, "either a kernel or a sandbox"),
        ({"net": True}, ValueError, "net applies only to a sandbox"),
        ({"net": 1, "sandbox": "bwrap"}, ValueError, "net is 1; it must be True or False"),
    ],
)
def test_invalid_code_execution_config_is_refused(config: Any, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said.replace("?", "[?]")):
        autogen_nb.UserProxyAgent("user", code_execution_config=config)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"use_docker": False},
        {"use_docker": None, "timeout": 5},
        {"sandbox": "none", "limits": {"memory": "2 GB"}, "passed": ["GITHUB_TOKEN"]},
        {"kernel": "python3", "last_n_messages": 0},
        {"last_n_messages": 3},
        {"kernel": "http://localhost:8888/?token=secret"},
    ],
)
def test_a_kernel_and_other_values_by_default(config: dict[str, Any]) -> None:
    agent = autogen_nb.UserProxyAgent("user", code_execution_config=config)

    assert agent.code is not None
    assert type(agent.code.executor).__name__ == "BlockExecutor"
    assert (agent.code.confirm, agent.code.reach) == ("never", config.get("last_n_messages", "auto"))
    assert agent.use_docker == config.get("use_docker")
    assert autogen_nb.ConversableAgent("a", code_execution_config=False).use_docker is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": ""}, "name is ''"),
        ({"name": 3}, "name is 3"),
        ({"human_input_mode": "SOMETIMES"}, "human_input_mode is 'SOMETIMES'"),
        ({"human_input_mode": "never"}, "human_input_mode is 'never'"),
        ({"llm_config": {"config_list": []}}, "config_list is empty"),
        ({"llm_config": 3}, "a model must be a name or an llm_config dict"),
    ],
)
def test_other_arguments_that_are_invalid(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(AutogenError, match=said):
        autogen_nb.ConversableAgent(**{"name": "agent", **arguments})


def test_default_descriptions_and_summary_prompt() -> None:
    assistant = autogen_nb.AssistantAgent("coder")
    users = {mode: autogen_nb.UserProxyAgent("user", None, None, mode) for mode in ("ALWAYS", "TERMINATE", "NEVER")}

    assert assistant.description == assistant.DEFAULT_DESCRIPTION
    assert autogen_nb.AssistantAgent("coder", "You translate.").description == "You translate."
    assert {mode: user.description for mode, user in users.items()} == (
        autogen_nb.UserProxyAgent.DEFAULT_USER_PROXY_AGENT_DESCRIPTIONS
    )
    assert autogen_nb.ConversableAgent.DEFAULT_SUMMARY_METHOD == "last_msg"
    assert "conversation" in autogen_nb.ConversableAgent.DEFAULT_SUMMARY_PROMPT


CLASSES = "AssistantAgent UserProxyAgent GroupChatManager GroupChat BaseGroupChat RoundRobinGroupChat SelectorGroupChat"
FUNCTIONS = "initiate_chats a_initiate_chats register_function gather_usage_summary Console"
OPEN = [*"initiate_chat a_initiate_chat generate_init_message a_generate_init_message register_model_client".split()]
OPEN += ["run", "a_run"]
"""What takes further names, since AutoGen hands them on to the program's own functions and classes."""


def called() -> dict[str, Callable[..., Any]]:
    classes = {name: getattr(autogen_nb, name) for name in CLASSES.split()}
    methods = {
        f"{owner}.{name}": method
        for owner, cls in classes.items()
        for name, method in inspect.getmembers(cls, inspect.isfunction)
        if not name.startswith("_") and name not in OPEN
    }
    return classes | methods | {name: getattr(autogen_nb, name) for name in FUNCTIONS.split()}


@pytest.mark.parametrize(("name", "function"), called().items(), ids=called())
def test_no_parameter_hides_others(name: str, function: Callable[..., Any]) -> None:
    found = [each for key, each in inspect.signature(function).parameters.items() if key != "self"]

    assert [each for each in found if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD)] == []
    assert [each for each in found if each.annotation is each.empty] == []
