import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from autogen_nb.kernels.transfer.variable_transfer import HandedVariable
from autogen_nb.notebook import variable_choice
from tests.corpus import sections

NAMESPACE: dict[str, Any] = {
    "df": pd.DataFrame({"a": [1]}),
    "sales": pd.DataFrame({"a": [1]}),
    "weights": np.zeros(3),
    "column": pd.Series([1]),
    "Data": [1],
    "my_list": [1],
    "x1": 3,
    "mean": 3.5,
    "x": 1,
    "text": "words",
    "pd": pd,
    "helper_function": lambda: None,
    "SomeClass": type("SomeClass", (), {}),
    "_private_name": 1,
    "In": [],
    "bound_method": [].append,
    "module_like": types,
}


@pytest.mark.parametrize(("named", "task"), sections(Path(__file__).with_name("tasks.txt")))
def test_variables_that_a_task_names(named: str, task: str) -> None:
    assert ", ".join(variable_choice.mentioned_variables(task, NAMESPACE)) == named.replace("nothing", "")


def test_new_variables_in_one_line() -> None:
    numbers = [HandedVariable(f"n{number}", "int", "", None) for number in range(7)]
    line, tip = variable_choice.new_variables_line(
        [*numbers, HandedVariable("table", "DataFrame", "2 rows x 3 columns", None)], "side"
    )

    assert line.startswith("In the agent's kernel: `table` (DataFrame, 2 rows x 3 columns), `n0` (int), ")
    assert line.endswith("`n4` (int) and 2 more")
    assert tip == "`%autogen pull table -c side` copies one here"
