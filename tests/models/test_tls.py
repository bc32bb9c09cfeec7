"""A real TLS server before the fake one, and certificates of an authority of one's own."""

import asyncio
import shutil
import ssl
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from autogen_nb.errors import ConfigError, ModelUnavailable
from autogen_nb.models.openai.openai_model import OpenAIModel
from autogen_nb.models.remote.clients import trusted_certificates
from autogen_nb.testing import FakeOpenAI
from tests.models.asking import a_ask


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


VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")


@pytest.fixture(autouse=True)
def _no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return made(tmp_path_factory.mktemp("certificates"))


def told(server: FakeOpenAI, authority: Authority, **settings: Any) -> str | None:
    server.add("ok")

    async def run() -> str | None:
        async with in_tls(server, authority) as url:
            model = OpenAIModel(model="m", base_url=url, max_retries=0, **settings)
            return (await a_ask(model)).completion.message.text

    return asyncio.run(run())


def test_unknown_authority_is_refused_with_the_way_out(server: FakeOpenAI, authority: Authority) -> None:
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1:\d+ .*certificate.*issuer.*ca_bundle") as caught:
        told(server, authority)

    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert not server.requests


def test_one_of_several_folders_is_enough(
    server: FakeOpenAI, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _hashed(authority, tmp_path)
    sign = ";" if sys.platform == "win32" else ":"
    monkeypatch.setenv("SSL_CERT_DIR", f"{tmp_path / 'none'}{sign}{tmp_path}")

    assert told(server, authority) == "ok"


def _hashed(authority: Authority, folder: Path) -> None:
    command = ["openssl", "x509", "-noout", "-hash", "-in", str(authority.certificate)]
    name = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    (folder / f"{name}.0").write_bytes(authority.certificate.read_bytes())


def test_certificate_of_another_name_is_reported_without_ca_bundle(server: FakeOpenAI, tmp_path: Path) -> None:
    other = made(tmp_path, "DNS:elsewhere.example")

    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1") as caught:
        told(server, other, ca_bundle=other.certificate)

    assert "ca_bundle" not in str(caught.value)


@pytest.mark.parametrize("content", [None, "", "no certificate"], ids=["missing", "empty", "text"])
@pytest.mark.parametrize("by", ["ca_bundle", *VARIABLES])
def test_file_without_certificates_is_reported_before_anything_is_sent(
    by: str, content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    if by != "ca_bundle":
        monkeypatch.setenv(by, str(path))

    with pytest.raises(ConfigError, match=f"{by} .*ca.pem"):
        trusted_certificates(path if by == "ca_bundle" else None)


@pytest.mark.parametrize("given", [7, "a\0b", "/"], ids=ascii)
def test_ca_bundle_that_is_no_file_is_reported_when_the_model_is_made(given: Any) -> None:
    with pytest.raises(ConfigError, match="ca_bundle"):
        OpenAIModel(model="m", ca_bundle=given)


@pytest.mark.parametrize("found", [True, False], ids=["built in", "searched for"])
def test_systems_store_is_the_default(found: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not found:
        paths: Any = ssl.get_default_verify_paths()
        paths = paths._replace(cafile=None, capath=None)
        monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: paths)

    context = trusted_certificates()

    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)


def test_http_client_that_cannot_be_used_is_reported(authority: Authority) -> None:
    with httpx2.Client() as client, pytest.raises(ConfigError, match="AsyncClient"):
        OpenAIModel(model="m", http_client=client)
    with pytest.raises(ConfigError, match="http_client and ca_bundle"):
        OpenAIModel(model="m", http_client=httpx2.AsyncClient(), ca_bundle=authority.certificate)
