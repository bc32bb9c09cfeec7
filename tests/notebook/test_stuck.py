"""What a person is asked about code that does not yield."""

from autogen_nb.kernels.status import Stuck
from autogen_nb.kernels.transfer import Variable
from autogen_nb.notebook.stuck import question


def test_what_would_be_lost_is_named_with_its_size() -> None:
    """In bytes, where they are known; else by what it holds. The largest come first."""
    variables = (
        Variable("rows", "list", "100000 items"),
        Variable("table", "DataFrame", "5 rows x 2 columns", 2_000_000),
        Variable("thing", "Thing"),
    )

    asked = question(Stuck(variables))

    assert asked.endswith(
        "With it would go: `table` (DataFrame, 2.0 MB), `rows` (list, 100000 items), `thing` (Thing)."
    )
