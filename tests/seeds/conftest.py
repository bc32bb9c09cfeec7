"""A notebook with the extension loaded, as the magics' own tests have it."""

from tests.notebook.conftest import kernels, model, notebook, started_kernels

__all__ = ["kernels", "model", "notebook", "started_kernels"]
