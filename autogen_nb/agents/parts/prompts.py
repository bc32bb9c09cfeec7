"""The default prompts of agents."""

from collections.abc import Sequence

from autogen_nb.core.chats.chat_flow import mentioned_names

HELPFUL = "You are a helpful assistant."

ASSISTANT = """\
You solve tasks by writing code that another program runs for you, and by reading what it prints.

How to work:
- When you need to find something out or do something, write one complete code block, fenced with ```python (or ```sh \
for shell commands). It is run as it is: no placeholders, nothing for a person to fill in.
- Write one block for one step, then stop and wait: the next message holds its exit code and its output. Never guess \
or make up an output.
- Python blocks share one session: variables, imports and plots of earlier blocks are still there. Print what you \
need to see.
- If a block fails, read the error, say in one sentence what was wrong, and send the corrected block as a whole.
- Check a result before you rely on it.

When the task is done, answer in plain words with the numbers that you found, without any code block, and end with \
TERMINATE on a line of its own.
"""
FOLDER = "\nWrite your files into the folder {folder!r}, which exists; read the user's files where they are.\n"
"""The sentence about the chat's folder, which follows `ASSISTANT` in the system message."""

REFLECT = (
    "Sum up what the conversation above came to, in a few plain sentences, for someone who has not read it. "
    "Leave out greetings and any remark about the summary itself."
)
"""The instruction for ``summary_method="reflection_with_llm"``."""

TEAM_ASSISTANT = (
    "You help to solve a task; use your tools where they help. Once the task is solved, say so, and end with TERMINATE."
)
"""The system message of an assistant with a model client."""

SELECT_SPEAKER_MESSAGE = """\
Several agents work on a task together:
{roles}

You speak for none of them: you decide who of {agentlist} speaks next. Read their conversation and answer with one \
name, and with nothing else."""

SELECT_SPEAKER_PROMPT = "Who of {agentlist} should speak next? Answer with that one name only."

TEAM_SELECTOR = """\
Several agents work on a task together:
{roles}

You speak for none of them: you decide who of {participants} speaks next. This is what they have said:

{history}

Who of {participants} should speak next? Answer with that one name, and with nothing else."""

NAMED_SEVERAL = """\
You named several of {agentlist}, and only one of them can speak next. Choose the one who should speak next, \
and answer with that name only, spelled as it is here."""

NAMED_NOBODY = """\
You named none of the agents. Those who can speak next are {agentlist}. Answer with one of these names only, spelled \
as it is here."""


def retry_messages(
    tried: Sequence[str], names: Sequence[str], several: str, nobody: str, role: str
) -> list[dict[str, str]]:
    """The model's invalid choices of a speaker, each followed by new instructions."""
    messages: list[dict[str, str]] = []
    for answer in tried:
        template = several if len(mentioned_names(answer, names)) > 1 else nobody
        again = fill_template(template, agentlist=str(list(names)))
        messages += [{"role": "assistant", "content": answer}, {"role": role, "content": again}]
    return messages


def fill_template(template: str, **values: str) -> str:
    """Fills in the fields by `str.format`; if other braces make this fail, they stay unchanged."""
    try:
        return template.format(**values)
    except (KeyError, IndexError, ValueError):
        for name, value in values.items():
            template = template.replace(f"{{{name}}}", value)
        return template
