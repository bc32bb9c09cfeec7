"""What functions for code need, where AutoGen 0.2 has it."""

from autogen_nb.lazy_export import lazy_export

__getattr__, __all__ = lazy_export(
    __name__, "Alias", "FunctionWithRequirements", "ImportFromModule", "with_requirements"
)
