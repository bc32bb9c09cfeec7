"""Encryption between us and a kernel that is reached over tcp, where jupyter_client, ZeroMQ and the kernel have it.

Sockets of the file system need none: nobody else may enter their folder.
"""

from functools import cache
from typing import Any

_DECLARED = "supported_encryption"


def enable_encryption(manager: Any) -> None:
    """Has a manager of jupyter_client make keys for its kernel (CurveZMQ) where the kernelspec declares that it can."""
    import zmq

    # The trait came with jupyter_client 8.10.
    if manager.transport == "tcp" and zmq.has("curve") and manager.has_trait("transport_encryption"):
        manager.transport_encryption = "auto"


@cache
def declared_encryption() -> dict[str, Any]:
    """What the kernelspec of our own interpreter's ipykernel says of encryption, as a part of its metadata."""
    from jupyter_client.kernelspec import NATIVE_KERNEL_NAME, KernelSpecManager

    # Without folders to look into there is only the one that comes with ipykernel.
    metadata: dict[str, Any] = KernelSpecManager(kernel_dirs=[]).get_kernel_spec(NATIVE_KERNEL_NAME).metadata
    return {_DECLARED: metadata[_DECLARED]} if _DECLARED in metadata else {}


def encrypt_socket(socket: Any, manager: Any) -> None:
    """Has a socket, before it connects, use the keys of the manager's kernel, if that has any."""
    public = getattr(manager, "curve_publickey", None)
    if public is not None:
        socket.curve_secretkey = manager.curve_secretkey
        socket.curve_publickey = public
        socket.curve_serverkey = public
