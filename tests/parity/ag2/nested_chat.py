"""A handoff to nested chats, whose summary the agent gets; and to a group inside the group."""

from autogen.agentchat import initiate_group_chat
from autogen.agentchat.group import AgentTarget, NestedChatTarget, OnCondition, StringLLMCondition, TerminateTarget
from autogen.agentchat.group.patterns import DefaultPattern

from tests.parity.ag2 import agent
from tests.parity.recorded import calls, history

SCRIPT = {
    "editor": [calls(("e1", "transfer_to_wrapped_nested_editor_1_1", {})), calls(("e2", "transfer_to_printer_2", {}))],
    "checker": ["Two commas are wrong."],
    "printer": ["Printed."],
}
OWN, MARKS = ["Transfer to "], []


def main():
    editor, checker, printer = agent("editor"), agent("checker"), agent("printer")
    queue = [
        {"recipient": checker, "message": "Check the text: A, B, C.", "max_turns": 1, "summary_method": "last_msg"}
    ]
    editor.handoffs.add_llm_conditions(
        [
            OnCondition(
                target=NestedChatTarget(nested_chat_config={"chat_queue": queue}),
                condition=StringLLMCondition(prompt="It is not checked."),
            ),
            OnCondition(target=AgentTarget(printer), condition=StringLLMCondition(prompt="It is checked.")),
        ]
    )
    printer.handoffs.set_after_work(TerminateTarget())
    pattern = DefaultPattern(initial_agent=editor, agents=[editor, checker, printer])
    result, variables, last = initiate_group_chat(pattern=pattern, messages="Print it.", max_rounds=14)
    return {"chat": [history(result.chat_history), result.summary], "last": last.name}
