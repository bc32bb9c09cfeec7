import pytest

from autogen_nb.events import ApprovalGiven, Ended, Recorded
from autogen_nb.human.rule_based_approver import ONWARDS, RULED
from autogen_nb.notebook.asking.person import lets_all_run

RUN = ApprovalGiven("run", by="you")


@pytest.mark.parametrize(
    ("decisions", "found"),
    [
        ((RUN, RUN), False),
        ((RUN, RUN, RUN), True),
        ((ApprovalGiven("skip", by="you"), RUN, RUN, RUN), True),
        ((RUN, ApprovalGiven("skip", by="you"), RUN, RUN), False),
        ((RUN, RUN, ApprovalGiven("run", code="1", by="you")), False),
        ((RUN, RUN, ApprovalGiven("run", by="you", onwards=True)), False),
        ((RUN, RUN, ApprovalGiven("run", by=f"{RULED}network example.org")), False),
        ((RUN, RUN, ApprovalGiven("run", by=ONWARDS)), False),
    ],
    ids=["two", "three", "three after a skip", "a skip between", "edited", "run all", "by a rule", "by run all"],
)
def test_three_blocks_in_a_row(decisions: tuple[ApprovalGiven, ...], found: bool) -> None:
    events: list[Recorded] = [each for given in decisions for each in (given, Ended("answered"))]

    assert lets_all_run(events) is found
