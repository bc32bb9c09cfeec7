"""What functions for code need, where AutoGen 0.2 has it."""

from autogen_nb.doors import through

__getattr__, __all__ = through(__name__, "Alias", "FunctionWithRequirements", "ImportFromModule", "with_requirements")
