"""A deterministic analyst behind the model protocol: no language model, no network, no key.

It never imports pandas or matplotlib: it writes code that does, and reads what the code printed.
"""

from autogen_nb.models.offline.model import OfflineModel

__all__ = ["OfflineModel"]
