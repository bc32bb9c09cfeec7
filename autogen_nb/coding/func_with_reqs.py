"""What functions for code need, where AutoGen 0.2 has it."""

from autogen_nb import Alias, FunctionWithRequirements, ImportFromModule, with_requirements

__all__ = ["Alias", "FunctionWithRequirements", "ImportFromModule", "with_requirements"]
