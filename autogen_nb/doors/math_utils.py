"""Functions for mathematical answers, under AutoGen 0.2's module name."""

from autogen_nb.core.text.boxed_answers import (
    get_answer,
    is_equiv,
    is_equiv_chain_of_thought,
    last_boxed_only_string,
    remove_boxed,
)

__all__ = ["get_answer", "is_equiv", "is_equiv_chain_of_thought", "last_boxed_only_string", "remove_boxed"]
