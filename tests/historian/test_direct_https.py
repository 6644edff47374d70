from __future__ import annotations

import ssl
import threading
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from historian.direct_http import DirectConnections


def certificate(folder: Path) -> Path:
    """Write a key and a certificate for 127.0.0.1 that vouches for itself, and return their file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    today = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "server.pem"
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return file


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        said = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def secured(tmp_path: Path) -> Generator[tuple[httpx2.URL, Path]]:
    """A server behind TLS, and the file of its certificate."""
    file = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield httpx2.URL(f"https://127.0.0.1:{server.server_port}/v1"), file
        server.shutdown()
        thread.join()


def asked(url: httpx2.URL) -> bytes:
    connections = DirectConnections(url, timeout=20.0, connecting=20.0, most=1000)
    try:
        said = "密".encode()
        head = f"POST /v1 HTTP/1.1\r\nhost: {url.host}\r\ncontent-length: {len(said)}\r\n\r\n"
        first, second = (connections.send(head.encode() + said).body for _ in range(2))
        assert first == second
        return first
    finally:
        connections.close()


def test_nobody_is_spoken_to_whose_certificate_nobody_vouches_for(secured: tuple[httpx2.URL, Path]) -> None:
    with pytest.raises(httpx2.ConnectError):
        asked(secured[0])


def test_a_certificate_that_the_environment_trusts_is_enough(
    secured: tuple[httpx2.URL, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(secured[1]))
    assert asked(secured[0]) == "密".encode()
