"""The table `[server]`: how the memory is served, and to whom over HTTP."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "HS256", "HS384", "HS512"
]


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
    public_url: str = Field(default="", pattern=r"^(https?://[^\s/?#@]+(/[^\s?#]*)?)?$")
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
