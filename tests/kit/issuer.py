"""Somebody who issues JSON Web Tokens, and publishes keys over HTTP."""

from __future__ import annotations

import base64
import json
import socket
import struct
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from server.http.identity import READ
from server.server_settings import ServerSettings

ISSUER = "https://login.example.com"
AUDIENCE = "https://memory.example.com/mcp"


class Issuer:
    """Somebody who signs tokens and publishes keys."""

    def __init__(self, key_id: str = "k1") -> None:
        self.key_id = key_id
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def public_pem(self) -> bytes:
        """The public key as a file holds it."""
        return self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    @property
    def jwk(self) -> dict[str, Any]:
        """The public key as it is published."""
        return {
            **jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True),
            "kid": self.key_id,
            "use": "sig",
        }

    def sign(self, *, head: Mapping[str, Any] | None = None, **claims: Any) -> str:
        """Return a sound token, changed by `claims`; None leaves one out."""
        given = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": "alice",
            "scope": f"openid {READ}",
            "exp": int(time.time()) + 300,
        }
        kept = {name: value for name, value in {**given, **claims}.items() if value is not None}
        headers = {"kid": self.key_id, "typ": "JWT", **(head or {})}
        return jwt.PyJWS().encode(json.dumps(kept).encode(), self.key, "RS256", headers=headers)


class KeyServer(ThreadingHTTPServer):
    """Publishes keys, counts who fetches them, and can be broken."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Keys)
        self.keys: list[dict[str, Any]] = []
        self.fetches = 0
        self.is_broken = False
        self.instead: bytes | None = None
        self.drips: float | None = None
        """Seconds between two bytes of the body."""
        self.resets = False

    @property
    def url(self) -> str:
        """Where the keys are."""
        return f"http://127.0.0.1:{self.server_address[1]}/jwks"


class _Keys(BaseHTTPRequestHandler):
    server: KeyServer

    def do_GET(self) -> None:
        """Answer with the keys, or with what is said `instead`."""
        self.server.fetches += 1
        if self.server.resets:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            return
        body = self.server.instead
        body = json.dumps({"keys": self.server.keys}).encode() if body is None else body
        self.send_response(500 if self.server.is_broken else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):  # who asked has hung up
            for byte in body if self.server.drips is not None else ():
                self.wfile.write(bytes([byte]))
                time.sleep(self.server.drips or 0)
            self.wfile.write(body if self.server.drips is None else b"")

    def log_message(self, *_: object) -> None:  # type: ignore[override]
        """Say nothing."""
        return


@contextmanager
def publishing(*issuers: Issuer) -> Generator[KeyServer]:
    """Serve the keys of some issuers during the block."""
    with KeyServer() as server:
        server.keys = [issuer.jwk for issuer in issuers]
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def settings(**given: Any) -> ServerSettings:
    """Return settings that name the issuer."""
    return ServerSettings(**{"jwt_issuer": ISSUER, **given})


def base64url(data: bytes) -> str:
    """Return bytes as the parts of a token are written."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def claims_of(token: str) -> dict[str, Any]:
    """Return what a token says, whoever signed it."""
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return claims
