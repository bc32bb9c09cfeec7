import pytest

from autogen_nb.core.text.templates import fill_template
from autogen_nb.errors import ConfigError


def test_names_in_braces_become_values() -> None:
    values = {"one": "{two}", "two": 2}

    assert fill_template("{one} {two} {{two}}", values.__getitem__) == "{two} 2 {two}"


def test_a_template_is_no_code() -> None:
    def value(name: str) -> object:
        raise ConfigError(f"there is no variable {name!r}")

    with pytest.raises(ConfigError, match=r"no variable 'x.__class__' \(write {{ for a brace\)"):
        fill_template("{x.__class__}", value)


@pytest.mark.parametrize("task", ["a { b", "a } b", "a {} b"])
def test_a_single_brace_is_an_error(task: str) -> None:
    with pytest.raises(ConfigError, match=r"without a name; write {{ or }} for a brace"):
        fill_template(task, str)
