"""A real TLS server before the fake one, and certificates of an authority of one's own."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from autogen_nb.testing import FakeOpenAI


@dataclass(frozen=True, slots=True)
class Authority:
    certificate: Path
    server: Path
    server_key: Path

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.server, self.server_key)
        return context


def made(folder: Path, name: str = "IP:127.0.0.1") -> Authority:
    if shutil.which("openssl") is None:
        pytest.skip("the openssl command, which makes the certificates, is not there")
    new = "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    (folder / "name.txt").write_text(f"subjectAltName={name}\nauthorityKeyIdentifier=keyid\n")
    for command in (
        f"{new} -x509 -days 2 -subj /CN=own-authority -addext keyUsage=keyCertSign -keyout ca.key -out ca.pem",
        f"{new} -subj /CN=server -keyout server.key -out server.csr",
        "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile name.txt -out server.pem",
    ):
        subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)
    return Authority(folder / "ca.pem", folder / "server.pem", folder / "server.key")


@asynccontextmanager
async def in_tls(fake: FakeOpenAI, authority: Authority) -> AsyncGenerator[str]:
    port = urlsplit(fake.base_url).port
    writers: list[asyncio.StreamWriter] = []
    tasks: list[asyncio.Task[None] | None] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.current_task())
        inner, outer = await asyncio.open_connection("127.0.0.1", port)
        writers.extend((writer, outer))
        await asyncio.gather(_copied(reader, outer), _copied(inner, writer))

    front = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=authority.context())
    try:
        yield f"https://127.0.0.1:{front.sockets[0].getsockname()[1]}/v1"
    finally:
        front.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*filter(None, tasks))


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while block := await reader.read(65536):
            writer.write(block)
            await writer.drain()
    writer.transport.abort()
