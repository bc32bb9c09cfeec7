"""Functions as tools, under AutoGen 0.2's module name."""

from autogen_nb.agents.parts.tool_schema import get_function_schema
from autogen_nb.agents.parts.tool_schema import with_typed_arguments as load_basemodels_if_needed
from autogen_nb.agents.parts.tool_use import result_text as serialize_to_str

__all__ = ["get_function_schema", "load_basemodels_if_needed", "serialize_to_str"]
