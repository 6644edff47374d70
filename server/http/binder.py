"""On whose behalf a request over HTTP acts: the verified token, and `_meta` where the token may act as others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST

from historian.model import Scope
from historian.session import Session
from server.binding import Binding, identity_keys
from server.http.identity import ACT_AS, Identity
from server.trust import binding_from_meta

MAY_NOT_ACT = f"This token may not speak for others; leave shiguan/ keys out of _meta, or use one with {ACT_AS}."
UNVERIFIED = "This request carries no verified token."


class VerifiedToken(AccessToken):
    """What the SDK passes along with a request. `token` is empty on purpose: nothing behind the door needs it."""

    identity: Identity


def verified(identity: Identity) -> VerifiedToken:
    """Return an identity as the SDK knows it; sessions are bound to client, issuer and subject."""
    return VerifiedToken(
        token="",
        client_id=identity.client_id,
        scopes=sorted(identity.scopes),
        expires_at=identity.expires_at,
        subject=identity.user_id,
        claims={"iss": identity.issuer} if identity.issuer is not None else None,
        identity=identity,
    )


def current_identity() -> Identity:
    """Return whose token came with the request being served.

    Raises:
        MCPError: none did, which the door does not let happen.
    """
    token = get_access_token()
    if not isinstance(token, VerifiedToken):
        raise MCPError(code=INVALID_REQUEST, message=UNVERIFIED)
    return token.identity


@dataclass(frozen=True, slots=True)
class TokenBinder:
    """Binds each request by the token that came with it. `defaults` hold where neither token nor `_meta` say."""

    defaults: Session

    def bind(self, meta: Mapping[str, Any] | None) -> Binding | None:
        """Return whom the token, or the `_meta` of one that may act as others, names; None where that is nobody.

        Raises:
            MCPError: the request names an identity, and its token may not.
            InvalidInputError: what it names is no identity; the sentence names the key.
        """
        identity = current_identity()
        if identity_keys(meta):
            if not identity.may(ACT_AS):
                raise MCPError(code=INVALID_REQUEST, message=MAY_NOT_ACT)
            return binding_from_meta(meta, self.defaults)
        return binding_of_identity(identity, self.defaults)


def binding_of_identity(identity: Identity, defaults: Session) -> Binding | None:
    """Return whom a token of itself speaks for; None where that is nobody."""
    if identity.user_id is None:
        return None
    session = replace(defaults, timezone=identity.timezone or defaults.timezone, sender_name=identity.name)
    return Binding(Scope(identity.user_id, None, identity.groups), session)
