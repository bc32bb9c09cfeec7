"""Functions that code can import, under AutoGen 0.2's module name."""

from autogen_nb import Alias, FunctionWithRequirements, ImportFromModule, with_requirements

__all__ = ["Alias", "FunctionWithRequirements", "ImportFromModule", "with_requirements"]
