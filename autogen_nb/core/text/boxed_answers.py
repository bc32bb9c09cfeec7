"""Compares mathematical answers in LaTeX by their text."""

import re

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
    return match[1] if match else None


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
