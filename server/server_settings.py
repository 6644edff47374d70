"""The table `[server]`: how the memory is served, and to whom over HTTP."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "HS256", "HS384", "HS512"
]


PATH = "/mcp"
"""The endpoint of the protocol."""
_ADDRESS = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")


class ServerSettings(BaseModel):
    """How the memory is served.

    `idle_seconds`: when an owner that nobody uses leaves; 0 = at once when drained. `rate_limit`: requests a minute of
    one token; 0 = no limit. `body_seconds`: how long the head or the body of a request may take to arrive.
    `sessions_per_token`: of the protocol of 2025; 0 = no limit. `recheck_seconds`: how soon an answer ends whose token
    was revoked or has expired meanwhile.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    idle_seconds: float = Field(default=600.0, ge=0, le=1e9)
    host: str = Field(default="127.0.0.1", min_length=1, max_length=253)
    port: int = Field(default=8765, ge=0, le=65535)
    public_url: str = ""
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    verifier: Literal["auto", "tokens", "jwt"] = "auto"
    token_file: str = ""
    jwt_issuer: str = ""
    jwt_audience: str = ""
    jwt_jwks_url: str = ""
    jwt_key_file: str = ""
    jwt_algorithms: tuple[Algorithm, ...] = Field(default=("RS256",), min_length=1)
    jwt_user_claim: str = Field(default="sub", min_length=1)
    jwt_groups_claim: str = Field(default="groups", min_length=1)
    jwt_scope_claim: str = Field(default="scope", min_length=1)
    rate_limit: int = Field(default=1200, ge=0, le=1_000_000)
    max_body_bytes: int = Field(default=4 * 2**20, ge=1024, le=64 * 2**20)
    body_seconds: float = Field(default=20.0, gt=0, le=600)
    max_connections: int = Field(default=1000, ge=1, le=100_000)
    session_seconds: float = Field(default=1800.0, gt=0, le=86_400)
    sessions_per_token: int = Field(default=1000, ge=0, le=10_000)
    recheck_seconds: float = Field(default=5.0, gt=0, le=3600)

    @field_validator("public_url")
    @classmethod
    def _whole(cls, url: str) -> str:
        """Take an address as clients call it: tokens are issued for it, and the pages and REST lie beside it."""
        if not url:
            return url
        if _ADDRESS.fullmatch(url) is None:
            raise ValueError(f"write the address of the endpoint, such as https://memory.example.com{PATH}")
        if not url.endswith(PATH):
            raise ValueError(f"write the whole address of the endpoint, {url.rstrip('/').removesuffix(PATH)}{PATH}")
        return url

    @field_validator("allowed_hosts")
    @classmethod
    def _names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if any("/" in name for name in names):
            raise ValueError('write names alone, such as ["memory.example.com"]')
        return names

    @field_validator("allowed_origins")
    @classmethod
    def _origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        if any("://" not in origin for origin in origins):
            raise ValueError('write them with their scheme, such as ["https://app.example.com"]')
        return origins
