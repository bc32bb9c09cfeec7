"""Finds the cluster of Dask collections. The kernel gets the collections' graphs, and connects to the same cluster."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autogen_nb.errors import TransferError


@dataclass(frozen=True, slots=True)
class Cluster:
    """The address of a Dask scheduler, and the certificates for connecting to it."""

    address: str
    security: Any

    @property
    def endpoint(self) -> tuple[str, int]:
        host, _, port = self.address.rpartition("://")[2].rpartition(":")
        return host.strip("[]"), int(port)


def is_collection(value: Any) -> bool:
    dask = sys.modules.get("dask")
    # Checks the type, because an attribute of the value may run code that raises any exception.
    return dask is not None and hasattr(type(value), "__dask_graph__") and bool(dask.is_dask_collection(value))


def cluster_of(values: Mapping[str, Any]) -> Cluster | None:
    """The cluster of this process's Dask client; None without a client or a collection."""
    distributed = sys.modules.get("distributed")
    collection = next((name for name, value in values.items() if is_collection(value)), None)
    if distributed is None or collection is None:
        return None
    try:
        client = distributed.Client.current()
    except ValueError:
        return None
    if client.scheduler is None or client.status != "running":
        raise TransferError(f"`{collection}` cannot be handed over: the Dask client is closed; connect a new one")
    if client.scheduler.address.startswith("inproc://"):
        raise TransferError(
            f"`{collection}` cannot be handed over: no other process can reach a Dask cluster in this process; "
            "start it with processes=True"
        )
    return Cluster(client.scheduler.address, client.security)
