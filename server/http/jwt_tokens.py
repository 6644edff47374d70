"""JSON Web Tokens of an identity provider: signature, issuer, audience and times checked, the algorithms fixed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from historian.errors import InvalidInputError, IssuerUnreachableError, ShiguanError
from historian.ids import normalise_id
from historian.zones import load_zone
from server.http.identity import ACT_AS, SCOPES, Identity
from server.http.jwt_keys import Keys, make_keys
from server.server_settings import ServerSettings

LEEWAY_SECONDS = 30
REQUIRED = ("exp", "iss", "aud")
MAX_TOKEN_LENGTH = 16_384
MAX_NAME_LENGTH = 100
MAX_GROUPS = 1000

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Claims:
    """Which claims say what."""

    user: str
    groups: str
    scope: str


class JwtVerifier:
    """Verifies the tokens of one issuer for one audience."""

    def __init__(self, keys: Keys, settings: ServerSettings, audience: str) -> None:
        self._keys = keys
        self._issuer = settings.jwt_issuer
        self._audience = audience
        self._algorithms = list(settings.jwt_algorithms)
        self._claims = Claims(settings.jwt_user_claim, settings.jwt_groups_claim, settings.jwt_scope_claim)

    async def verify(self, token: str) -> Identity | None:
        """Return whom the token speaks for, or None: it is no JWT, not meant for us, has expired, or is forged.

        The log says what is wrong with a JWT, and never repeats any of it.

        Raises:
            IssuerUnreachableError: nothing is wrong on the face of it, and its key cannot be fetched.
        """
        import jwt

        if token.count(".") != 2 or len(token) > MAX_TOKEN_LENGTH:
            return None
        try:
            self._look_at(token)  # before a key is looked for
            claims: dict[str, Any] = jwt.decode(
                token,
                key=await self._keys.key_for(token),
                algorithms=self._algorithms,
                audience=self._audience,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": [*REQUIRED], "enforce_minimum_key_length": True},
            )
            return self._identity(claims)
        except IssuerUnreachableError:
            raise
        except (jwt.PyJWTError, ShiguanError, ValueError, TypeError) as error:
            log.info("a JWT was refused: %s", self._reason(error))
            return None

    def _look_at(self, token: str) -> None:
        """Raise jwt.PyJWTError where a token cannot be good, whoever signed it."""
        import jwt

        if jwt.get_unverified_header(token).get("alg") not in self._algorithms:
            raise jwt.InvalidAlgorithmError
        jwt.decode(
            token,
            audience=self._audience,
            issuer=self._issuer,
            leeway=LEEWAY_SECONDS,
            options={
                "verify_signature": False,
                "verify_exp": True,
                "verify_nbf": True,
                "verify_aud": True,
                "verify_iss": True,
                "require": [*REQUIRED],
            },
        )

    def _reason(self, error: Exception) -> str:
        """Return what is wrong with a token: our words and settings, nothing of the token."""
        import jwt

        if isinstance(error, ShiguanError):
            return str(error)
        if isinstance(error, jwt.MissingRequiredClaimError):
            return f"the claim {error.claim} is missing"
        known: tuple[tuple[type[Exception], str], ...] = (
            (jwt.InvalidAudienceError, f"its audience (aud) is not {self._audience}; see server.jwt_audience"),
            (jwt.InvalidIssuerError, f"its issuer (iss) is not {self._issuer}; see server.jwt_issuer"),
            (jwt.ExpiredSignatureError, "it has expired (exp)"),
            (jwt.ImmatureSignatureError, "it is not valid yet (nbf or iat)"),
            (jwt.InvalidAlgorithmError, "its algorithm (alg) is not one of server.jwt_algorithms"),
            (jwt.InvalidSignatureError, "its signature was not made with the issuer's key"),
            (jwt.PyJWKClientError, "the issuer publishes no key of its id (kid)"),
        )
        return next((words for kind, words in known if isinstance(error, kind)), type(error).__name__)

    def _identity(self, claims: Mapping[str, Any]) -> Identity:
        """Return who the claims name. Raises InvalidInputError."""
        named = self._claims
        user = claims.get(named.user)
        client = claims.get("client_id") or claims.get("azp") or "jwt"
        groups = _names(claims, named.groups)[:MAX_GROUPS]
        scopes = frozenset(_names(claims, named.scope) + _names(claims, "scp")) & frozenset(SCOPES)
        if user is None and ACT_AS not in scopes:
            raise InvalidInputError(f"the claim {named.user} is missing, which names the user (server.jwt_user_claim)")
        if user is not None and not isinstance(user, str):
            raise InvalidInputError(f"the claim {named.user} must be a text")
        return Identity(
            client_id=str(client)[:MAX_NAME_LENGTH],
            user_id=normalise_id(user, f"claim {named.user}") if user is not None else None,
            groups=frozenset(normalise_id(group, f"claim {named.groups}") for group in groups),
            scopes=scopes,
            issuer=self._issuer,
            expires_at=int(claims["exp"]),
            timezone=_zone(claims.get("zoneinfo")),
            name=_display_name(claims.get("name")),
        )


def make_jwt_verifier(settings: ServerSettings, audience: str) -> JwtVerifier:
    """Return the verifier that the settings describe; `audience` holds unless they name another one.

    Raises:
        NotConfiguredError: a setting that it needs is missing, or two contradict each other.
        InvalidInputError: the key file or the URL cannot be used.
    """
    return JwtVerifier(make_keys(settings), settings, settings.jwt_audience or audience)


def _names(claims: Mapping[str, Any], claim: str) -> list[str]:
    """Return a claim that is a list, or words in one text, as texts. Raises InvalidInputError for anything else."""
    value: object = claims.get(claim)
    if value is None:
        return []
    if isinstance(value, str):
        return value.split()
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return [str(name) for name in value]
    raise InvalidInputError(f"the claim {claim} must be a list of texts, or one text")


def _zone(value: object) -> str | None:
    try:
        return load_zone(value).key if isinstance(value, str) and value else None
    except InvalidInputError:
        return None


def _display_name(value: object) -> str | None:
    return (" ".join(value.split())[:MAX_NAME_LENGTH] or None) if isinstance(value, str) else None
