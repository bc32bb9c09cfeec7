from autogen_nb.kernels.kernel_status import StuckBlock
from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
from autogen_nb.notebook.asking.stop_question import question


def test_what_would_be_lost_is_named_with_its_size() -> None:
    variables = (
        HandedVariable("rows", "list", "100000 items"),
        HandedVariable("table", "DataFrame", "5 rows x 2 columns", 2_000_000),
        HandedVariable("thing", "Thing"),
    )

    asked = question(StuckBlock(variables))

    assert asked.endswith(
        "With it would go: `table` (DataFrame, 2.0 MB), `rows` (list, 100000 items), `thing` (Thing)."
    )
