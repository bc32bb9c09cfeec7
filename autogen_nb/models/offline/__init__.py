"""A deterministic analyst behind the model protocol: no language model, no network, no key.

It writes code that imports pandas and matplotlib, and reads the printed results.
"""

from autogen_nb.models.offline.model import OfflineModel

__all__ = ["OfflineModel"]
