"""Credentials in text, by the shapes that their issuers document; a word such as "password" is none.

- private key: RFC 7468 (PKCS #8), OpenSSL `PEM_read_bio_PrivateKey`, OpenSSH PROTOCOL.key, RFC 9580 section 6.2 (PGP)
- JSON Web Token: RFC 7519 section 3, RFC 7515 section 7.1: a header that names `alg`, a payload, a signature
- AWS: IAM User Guide, "Unique identifiers"; AWS CLI, "Configuration and credential file settings"
- GitHub: changelog of 2021-03-31, "Authentication token format updates"; "Managing your personal access tokens"
- GitLab: "Token overview", "Token prefixes"
- API key that begins with sk-: OpenAI, "API keys", also of services with the same API; Anthropic, "API overview"
- Slack: "Token types", "Using token rotation", "Sending messages using incoming webhooks"
- Google: "Use API keys to access APIs", "Token types"; client secrets as in "OAuth 2.0 for web server applications"
- Stripe: "API keys", "Check the webhook signatures"
- Telegram: Bot API, "Authorizing your bot"; Discord: developer documentation, "Authentication"
- npm: "About access tokens"; PyPI: help, "API tokens"; Hugging Face: "User access tokens"; SendGrid: "API keys";
  DigitalOcean: "Token scopes and formats"
- Shiguan: `server.http.tokens`
- card number: ISO/IEC 7812-1 and the ranges that issuers publish, see `cards`

Detection is linear in the length of the text: every pattern begins at the beginning of a word and is bounded. A shape
is looked for only where one of its hints stands in the text, so that ordinary text costs a few searches for substrings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from historian.cards import card_numbers
from historian.private_keys import private_keys

CARD_NUMBER = "card number"
_WORD = "A-Za-z0-9"
_URL = "A-Za-z0-9_-"


class Credential(NamedTuple):
    """What was found, and where it stands: `text[start:end]`."""

    kind: str
    start: int
    end: int


class _Shape(NamedTuple):
    """A pattern is looked for where one of `hints` stands; `check` may refuse what it finds."""

    kind: str
    hints: tuple[str, ...]
    pattern: str
    check: Callable[[str], bool] | None = None


def _is_jwt(text: str) -> bool:
    try:
        header = json.loads(_decoded(text.partition(".")[0]))
    except ValueError:
        return False
    return isinstance(header, dict) and isinstance(header.get("alg"), str)


def _is_discord(text: str) -> bool:
    try:
        return _decoded(text.partition(".")[0]).isdigit()
    except ValueError:
        return False


def _decoded(part: str) -> str:
    import base64  # hooks start in milliseconds, and most of them find nothing to decode

    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode("utf-8")
    except ValueError as error:
        raise ValueError("not base64 of UTF-8") from error


_SHAPES = (
    _Shape("AWS access key", ("AKIA", "ASIA"), rf"(?<![{_WORD}])A[KS]IA[A-Z2-7]{{16}}(?![{_WORD}])"),
    _Shape(
        "AWS secret",
        ("ecret", "ECRET", "ession", "ESSION"),
        r"(?i:aws_?secret_?access_?key|aws_?session_?token|(?<![a-z])secretaccesskey|(?<![a-z])sessiontoken)"
        r"[\"']?\s{0,5}[=:]>?\s{0,5}[\"']?(?P<secret>[A-Za-z0-9/+=]{40,2000})(?![A-Za-z0-9/+=])",
    ),
    _Shape(
        "GitHub token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        rf"(?<![{_WORD}])(?:gh[pousr]_[{_WORD}]{{36,251}}|github_pat_[{_WORD}]{{22}}_[{_WORD}]{{59}})(?![{_WORD}])",
    ),
    _Shape(
        "GitLab token",
        ("gl",),
        rf"(?<![{_WORD}])gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct)-[{_URL}]{{20,300}}(?:\.[{_WORD}]{{1,20}}){{0,2}}",
    ),
    _Shape(
        "API key",
        ("sk-",),
        rf"(?<![{_URL}])sk-(?:(?:proj|svcacct|admin|None|ant|or)-[{_URL}]{{20,400}}|[{_WORD}]{{32,100}})(?![{_WORD}])",
    ),
    _Shape(
        "Slack token",
        ("xox", "xapp-"),
        rf"(?<![{_WORD}])(?:xoxe\.)?(?:xox[abeoprs]-\d[{_WORD}-]{{15,400}}|xapp-\d-[{_WORD}-]{{20,400}})",
    ),
    _Shape(
        "Slack webhook",
        ("hooks.slack.com",),
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9]{8,40}/[A-Za-z0-9]{8,40}/[A-Za-z0-9]{16,100}",
    ),
    _Shape("Google API key", ("AIza",), rf"(?<![{_WORD}])AIza[{_URL}]{{35}}(?![{_URL}])"),
    _Shape("Google client secret", ("GOCSPX-",), rf"(?<![{_WORD}])GOCSPX-[{_URL}]{{28}}(?![{_URL}])"),
    _Shape("Google access token", ("ya29.",), rf"(?<![{_WORD}])ya29\.[{_URL}]{{20,2000}}"),
    _Shape(
        "Stripe key",
        ("k_live_", "k_test_", "whsec_"),
        rf"(?<![{_WORD}])(?:[sr]k_(?:live|test)_[{_WORD}]{{16,300}}|whsec_[{_WORD}+/]{{32,300}})",
    ),
    _Shape("Telegram bot token", (":AA",), rf"(?<![{_WORD}])\d{{8,10}}:AA[{_URL}]{{33}}(?![{_URL}])"),
    _Shape(
        "Discord bot token",
        ("M", "N", "O"),
        rf"(?<![{_URL}])[MNO][{_URL}]{{23,27}}\.[{_URL}]{{6}}\.[{_URL}]{{27,38}}(?![{_URL}])",
        _is_discord,
    ),
    _Shape("npm token", ("npm_",), rf"(?<![{_WORD}])npm_[{_WORD}]{{36}}(?![{_WORD}])"),
    _Shape("PyPI token", ("pypi-AgE",), rf"(?<![{_WORD}])pypi-AgE[{_URL}]{{50,1000}}"),
    _Shape("Hugging Face token", ("hf_",), rf"(?<![{_WORD}])hf_[A-Za-z]{{34}}(?![{_WORD}])"),
    _Shape("SendGrid key", ("SG.",), rf"(?<![{_WORD}])SG\.[{_URL}]{{22}}\.[{_URL}]{{43}}(?![{_URL}])"),
    _Shape("DigitalOcean token", ("do",), rf"(?<![{_WORD}])do[opr]_v1_[0-9a-f]{{64}}(?![{_WORD}])"),
    _Shape("Shiguan token", ("shiguan_",), rf"(?<![{_WORD}])shiguan_[0-9a-f]{{8}}_[{_URL}]{{43}}(?![{_URL}])"),
    _Shape(
        "JSON Web Token",
        ("eyJ",),
        rf"(?<![{_URL}])eyJ[{_URL}]{{8,4000}}\.eyJ[{_URL}]{{2,16000}}\.[{_URL}]{{8,4000}}(?![{_URL}])",
        _is_jwt,
    ),
)
_WIDE = {ord("！") + offset: ord("!") + offset for offset in range(94)} | {0x3000: 0x20}
"""Full-width ASCII, as Chinese and Japanese keyboards give it, one character for one."""


def find_credentials(text: str) -> list[Credential]:
    """Return the credentials that stand in `text`, in order and without overlap."""
    read = text if text.isascii() else text.translate(_WIDE)
    found = sorted(_all(read), key=lambda one: (one.start, -one.end))
    kept: list[Credential] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def _all(text: str) -> Iterator[Credential]:
    for start, end in private_keys(text):
        yield Credential("private key", start, end)
    for start, end in card_numbers(text):
        yield Credential(CARD_NUMBER, start, end)
    for shape in _SHAPES:
        if any(hint in text for hint in shape.hints):
            for match in re.finditer(shape.pattern, text):
                group = "secret" if "secret" in match.groupdict() else 0
                if shape.check is None or shape.check(match[0]):
                    yield Credential(shape.kind, match.start(group), match.end(group))
