"""What the embedded servers lack, put in front of them: TLS, and Kafka's login.

The broker behind is real and so are the handshakes; only the listener is the tests' own. It
passes on nothing before the login.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import ssl
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from safepassage.streams.demo.embedded import free_port, start_broker, stop_process

BEARER = "OAUTHBEARER"
"""The name in a login whose password is a token."""
API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE = 18, 17, 36
AUTHENTICATION_FAILED = 58


@dataclass(frozen=True)
class Certificates:
    """PEM files: an authority, and a certificate of it for this machine with its key."""

    authority: Path
    certificate: Path
    key: Path

    def server_context(self, *, mutual: bool = False) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        if mutual:
            context.load_verify_locations(self.authority)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


def make_certificates(folder: Path) -> Certificates:
    """A new authority and a certificate for localhost, valid for a day."""
    folder.mkdir(parents=True, exist_ok=True)
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of the tests")])
    authority = (
        _certificate(name, name, authority_key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    localhost = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        _certificate(localhost, name, key.public_key())
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    made = Certificates(*(folder / f"{stem}.pem" for stem in ("authority", "certificate", "key")))
    made.authority.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    made.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    made.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return made


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
    )


@asynccontextmanager
async def secured_broker(
    context: ssl.SSLContext | None, login: tuple[str, str] | None
) -> AsyncIterator[str]:
    """A broker of its own behind TLS, a PLAIN login, or both; yields its address."""
    port, inner = free_port(), f"127.0.0.1:{free_port()}"
    process = start_broker(inner, advertised=f"localhost:{port}")
    try:
        async with listening(port, inner, context, login):
            yield f"localhost:{port}"
    finally:
        stop_process(process)


@asynccontextmanager
async def listening(
    port: int, inner: str, context: ssl.SSLContext | None, login: tuple[str, str] | None = None
) -> AsyncIterator[None]:
    """A listener on ``port`` that passes on to ``inner`` whoever got through."""
    connections: set[asyncio.Task] = set()
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        writers.append(writer)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                await _serve(reader, writer, inner, login)
        finally:
            writer.close()

    # Broken handshakes are what some tests are about: they are not logged.
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    server = await asyncio.start_server(serve, "127.0.0.1", port, ssl=context)
    try:
        yield
    finally:
        server.close()
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0.05)  # the transports close in the loop's next turns


async def _serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    inner: str,
    login: tuple[str, str] | None,
) -> None:
    host, _, port = inner.rpartition(":")
    behind_reader, behind_writer = await asyncio.open_connection(host, int(port))
    try:
        if login is None or await _log_in(reader, writer, behind_reader, behind_writer, login):
            await asyncio.gather(_pump(reader, behind_writer), _pump(behind_reader, writer))
    finally:
        behind_writer.close()


async def _log_in(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    behind_reader: asyncio.StreamReader,
    behind_writer: asyncio.StreamWriter,
    login: tuple[str, str],
) -> bool:
    """Answer the handshake and the authentication; everything else ends the connection."""
    while True:
        frame = await _frame(reader)
        api, version, correlation = struct.unpack(">hhi", frame[:8])
        if api == API_VERSIONS:
            behind_writer.write(struct.pack(">i", len(frame)) + frame)
            answer = await _frame(behind_reader)
        elif api == SASL_HANDSHAKE:
            mechanism = BEARER.encode() if login[0] == BEARER else b"PLAIN"
            answer = struct.pack(">ihih", correlation, 0, 1, len(mechanism)) + mechanism
        elif api == SASL_AUTHENTICATE:
            plain, bearer = "\0".join(("", *login)), f"auth=Bearer {login[1]}\x01\x01"
            right = frame.endswith((bearer if login[0] == BEARER else plain).encode())
            lifetime = struct.pack(">q", 0) if version else b""
            code = 0 if right else AUTHENTICATION_FAILED
            answer = struct.pack(">ihhi", correlation, code, -1, 0) + lifetime
        else:
            return False
        writer.write(struct.pack(">i", len(answer)) + answer)
        if api == SASL_AUTHENTICATE:
            return right


async def _frame(reader: asyncio.StreamReader) -> bytes:
    (length,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(length)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while part := await reader.read(64 * 1024):
        writer.write(part)
        await writer.drain()
    writer.close()
