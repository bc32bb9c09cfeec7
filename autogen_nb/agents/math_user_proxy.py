"""`MathUserProxyAgent`: AutoGen 0.2's agent that poses a mathematical problem, and runs the solver's queries."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from autogen_nb.agents.parts.agent import Agent
from autogen_nb.agents.user_proxy import UserProxyAgent
from autogen_nb.core.text.code_blocks import content_str, extract_code

_SIMPLIFIED: tuple[tuple[str, str], ...] = (
    (r"\n|\\!|\\left|\\right|\^\{\\circ\}|\^\\circ|\\\$|\\?%", ""),
    (r"\\\\", r"\\"),
    (r"[td]frac", "frac"),
    (r"\\text\{ .*", ""),
    (r"(^|[ {])\.", r"\g<1>0."),
    (r"^.{1,2}=([^=]+)$", r"\1"),
    (r"\\sqrt(?=[^{])(.)", r"\\sqrt{\1}"),
    (r" ", ""),
    (r"\\frac([^{\\])([^{\\])", r"\\frac{\1}{\2}"),
    (r"\\frac([^{\\])(?=\{)", r"\\frac{\1}"),
    (r"^0\.5$", r"\\frac{1}{2}"),
    (r"^(-?\d+)/(-?\d+)$", r"\\frac{\1}{\2}"),
)


def last_boxed_only_string(string: str) -> str | None:
    r"""The last ``\boxed{...}``, or else the last ``\fbox{...}``, with balanced braces; None without either."""
    start = string.rfind("\\boxed")
    if start < 0 and (start := string.rfind("\\fbox")) < 0:
        return None
    depth = 0
    for end in range(start, len(string)):
        depth += {"{": 1, "}": -1}.get(string[end], 0)
        if string[end] == "}" and depth == 0:
            return string[start : end + 1]
    return None


def remove_boxed(string: str | None) -> str | None:
    match = re.fullmatch(r"\\boxed\{(.*)\}", string or "", re.DOTALL)
    return match and match[1]


def get_answer(solution: str | None) -> str | None:
    return None if solution is None else remove_boxed(last_boxed_only_string(solution))


def is_equiv(str1: str | None, str2: str | None) -> float:
    """1.0 if both answers are missing, or differ only in LaTeX spelling; otherwise 0.0."""
    if str1 is None or str2 is None:
        return float(str1 is str2)
    return float(_simplified(str1) == _simplified(str2))


def is_equiv_chain_of_thought(str1: str, str2: str) -> float:
    return is_equiv(get_answer(str1), get_answer(str2))


def _simplified(answer: str) -> str:
    for pattern, spelling in _SIMPLIFIED:
        answer = re.sub(pattern, spelling, answer)
    return answer


_LONGEST = 2000
_PROMPTS = {
    "default": "Solve this problem: begin with the main idea, then reason, or write one program, or use queries.",
    "python": "Solve this problem with queries in Python.",
    "two_tools": "Solve this problem with queries in Python, or in Wolfram Alpha (in ```wolfram blocks).",
}
_QUERIES = """
Put each query into a ```python block that prints exact fractions and roots; sympy may help.
Go step by step, in few steps: send the queries of a step, wait for the results, and correct the step if they are wrong.
Put the answer in \\boxed{} once you know it and no query is left.

Problem: """


def _is_answer(message: Mapping[str, Any]) -> bool:
    text = content_str(message.get("content"))
    return bool(get_answer(text)) and not any(tag in ("python", "wolfram") for tag, _ in extract_code(text))


class MathUserProxyAgent(UserProxyAgent):
    r"""An agent that runs a solver's code and replies with the output, until a message without code has a ``\boxed{}``.

    A chat begins with ``message=agent.message_generator``. After more than `max_invalid_q_per_step` failures, the agent
    asks the solver to think again.
    """

    MAX_CONSECUTIVE_AUTO_REPLY = 15
    DEFAULT_REPLY: ClassVar[str] = "Go on until you have a query or the answer; put the answer in \\boxed{}."

    def __init__(self, name: str = "MathChatAgent", *, max_invalid_q_per_step: int = 3, **settings: Any) -> None:
        defaults = {"is_termination_msg": _is_answer, "human_input_mode": "NEVER"}
        super().__init__(name, **{**defaults, "default_auto_reply": self.DEFAULT_REPLY, **settings})
        self.max_failures, self.failures, self.last_reply = max_invalid_q_per_step, 0, ""
        self.register_reply([Agent, None], type(self).generate_math_reply, position=2)

    @staticmethod
    def message_generator(sender: Any, recipient: Any, context: Mapping[str, Any]) -> str:
        """A prompt (``customized_prompt`` of `context`, or else the one for its ``prompt_type``), then the problem."""
        del recipient
        sender.failures, sender.last_reply = 0, ""
        prompt = _PROMPTS[context.get("prompt_type", "default")] + _QUERIES
        return f"{context.get('customized_prompt') or prompt}{context['problem']}"

    def generate_math_reply(
        self, messages: Sequence[Mapping[str, Any]], sender: Any = None, config: Any = None
    ) -> tuple[bool, Any]:
        """Runs the code of the last message, or asks the solver to go on."""
        del config
        # This step asks a person if the settings or the organisation's policy require it.
        has_run, report = self.generate_code_execution_reply(messages[-1:], sender)
        if not has_run:
            return True, self.default_auto_reply
        text = content_str(report["content"] if isinstance(report, dict) else report)
        status, _, output = text.partition("\nCode output: ")
        reply, has_failed = output.strip(), not status.startswith("exitcode: 0 ")
        if not has_failed and not 0 < len(reply) <= _LONGEST:
            reply, has_failed = "The output is too long." if reply else "Nothing was printed.", True
        if reply == self.last_reply:
            return True, f"{reply}\nThis is the same result as before; try another way."
        self.last_reply = reply
        self.failures += has_failed
        if self.failures > self.max_failures:
            self.failures = 0
            return True, "Read the problem again. Solve this step without a query, or correct it."
        return True, f"Error: {reply}" if has_failed else reply
