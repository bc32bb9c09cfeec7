import pytest

from autogen_nb.core.text.templates import fill_template
from autogen_nb.errors import ConfigError


def test_names_in_braces_become_values() -> None:
    values = {"one": "{two}", "two": 2}

    assert fill_template("{one} {two} {{two}}", values.__getitem__) == "{two} 2 {two}"


@pytest.mark.parametrize("task", ["a { b", "a } b", "a {} b"])
def test_a_single_brace_is_an_error(task: str) -> None:
    with pytest.raises(ConfigError, match="without a name"):
        fill_template(task, str)
