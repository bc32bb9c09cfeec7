import pytest

from autogen_nb.errors import NobodyThere
from autogen_nb.events import ApprovalAsked, HumanInputAsked
from autogen_nb.human.headless import NobodyToAsk
from autogen_nb.messages import CodeBlock


def test_approval() -> None:
    with pytest.raises(NobodyThere, match=r"--confirm never.*AUTOGEN_NB_CONFIRM=never"):
        NobodyToAsk().approve(ApprovalAsked("user", CodeBlock("python", "1")))


def test_words() -> None:
    with pytest.raises(NobodyThere, match=r"user wants a person's words.*'never'"):
        NobodyToAsk().input(HumanInputAsked("user", "assistant", "?"))
