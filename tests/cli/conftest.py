from tests.notebook.conftest import model

__all__ = ["model"]
