import pytest

from autogen_nb.errors import NobodyThere
from autogen_nb.events import ApprovalAsked
from autogen_nb.human.headless import NobodyToAsk
from autogen_nb.messages import CodeBlock


def test_approval() -> None:
    with pytest.raises(NobodyThere, match=r"--confirm never.*AUTOGEN_NB_CONFIRM=never"):
        NobodyToAsk().approve(ApprovalAsked("user", CodeBlock("python", "1")))
