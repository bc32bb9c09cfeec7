"""The Jupyter executor, where AgentChat has it."""

from autogen_nb.lazy_export import lazy_export

__getattr__, __all__ = lazy_export(__name__, "JupyterCodeExecutor")
