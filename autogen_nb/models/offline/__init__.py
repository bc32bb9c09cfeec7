"""A deterministic model that analyses tables: no language model, no network, no key."""

from autogen_nb.models.offline.model import OfflineModel

__all__ = ["OfflineModel"]
