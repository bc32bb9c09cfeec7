"""A person who lets every block run as it came: whoever says yes to everything is better asked less."""

from collections.abc import Iterable

from autogen_nb.events import ApprovalGiven, Recorded
from autogen_nb.human.rule_based_approver import ONWARDS, RULED

OFTEN = 3
OFFER = (
    "Three blocks in a row ran as they came. `--confirm risky` asks only before code that reaches beyond this "
    "notebook's folder, writes, deletes, connects or starts something."
)


def lets_all_run(events: Iterable[Recorded]) -> bool:
    """Whether the last decisions about code were all to run it unchanged, each made by a person who was asked."""
    given = [event for event in events if isinstance(event, ApprovalGiven)][-OFTEN:]
    return len(given) == OFTEN and all(map(_as_it_came, given))


def _as_it_came(given: ApprovalGiven) -> bool:
    asked = given.by != ONWARDS and not given.by.startswith(RULED)
    return given.decision == "run" and given.code is None and asked and not given.onwards
