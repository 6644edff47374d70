"""What counts as a credential, and what looks like one and is none."""

from __future__ import annotations

import base64
import json
import random
import time
import uuid
from hashlib import sha1, sha256

import pytest

from historian.cards import is_card_number
from historian.credentials import find_credentials
from historian.errors import InvalidInputError
from historian.guard import Guard


def part(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


BODY = "\n".join(base64.b64encode(sha256(bytes([n])).digest() * 2).decode()[:64] for n in range(6))
DER = "MC4CAQAwBQYDK2VwBCIEIKZ7qPl3m0n5y1x6o4k8r2d9s0w3e5t7u1i9p2a4f6g8"
WORDS = "abcdefghijKLMNOPQRSTuvwxyz0123456789"
JWT = f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part({'sub': '1234567890', 'name': 'John'})}.{'x' * 43}"
# joined here, so that no scanner of repositories takes them for real ones
SHAPES = {
    "private key": [
        f"-----BEGIN PRIVATE KEY-----\n{DER}\n-----END PRIVATE KEY-----",
        f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\n{BODY}\n"
        "-----END RSA PRIVATE KEY-----",
        f"-----BEGIN OPENSSH PRIVATE KEY-----\r\n{BODY}\r\n-----END OPENSSH PRIVATE KEY-----",
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{BODY}\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
        f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{BODY}",
        f"-----BEGIN EC PRIVATE KEY-----\\n{DER}\\n-----END EC PRIVATE KEY-----\\n",
    ],
    "JSON Web Token": [JWT],
    "AWS access key": ["AKIA" + "IOSFODNN7EXAMPLE", "ASIA" + "Y34FZKBOKMUTVV7A"],
    "AWS secret": ["wJalrXUtnFEMI/K7MDENG" + "/bPxRfiCYEXAMPLEKEY"],
    "GitHub token": [
        *(f"{prefix}_{WORDS}" for prefix in ("ghp", "gho", "ghu", "ghs", "ghr")),
        f"github_pat_{WORDS[:22]}_{(WORDS * 2)[:59]}",
    ],
    "GitLab token": ["glpat-" + "z_sxgtrfAxKr8q1TPY8Y", "gldt-" + WORDS[:20], "glrt-" + WORDS[:20]],
    "API key": [
        f"sk-proj-{WORDS}_-{WORDS}",
        "sk-" + (WORDS * 2)[:48],
        "sk-" + sha1(b"key").hexdigest()[:32],
        f"sk-ant-api03-{WORDS}-{WORDS}",
    ],
    "Slack token": [
        "xoxb-" + "17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy",
        "xoxp-" + "12345-67890-1928471-qemwiiwglagjacakv",
        "xoxe.xoxb-" + "1-" + WORDS,
        "xapp-" + f"1-A01234567-1234567890-{WORDS}",
    ],
    "Slack webhook": ["https://hooks.slack.com/services/" + "T00000000/B00000000/" + "X" * 24],
    "Google API key": ["AIza" + (WORDS * 2)[:35]],
    "Google client secret": ["GOCSPX-" + WORDS[:28]],
    "Google access token": ["ya29." + WORDS],
    "Stripe key": ["sk_live_" + WORDS[:24], "rk_test_" + WORDS[:24], "whsec_" + WORDS[:32]],
    "Telegram bot token": ["110201543:AA" + "HdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"[:33].ljust(33, "x")],
    "Discord bot token": ["MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"],
    "npm token": ["npm_" + WORDS],
    "PyPI token": ["pypi-AgEIcHlwaS5vcmc" + WORDS * 2],
    "Hugging Face token": ["hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"],
    "SendGrid key": [f"SG.{WORDS[:22]}.{(WORDS * 2)[:43]}"],
    "DigitalOcean token": ["dop_v1_" + sha256(b"x").hexdigest()],
    "Shiguan token": [f"shiguan_0a1b2c3d_{(WORDS * 2)[:43]}"],
    "card number": [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1111",
        "5555555555554444",
        "2223003122003222",
        "378282246310005",
        "3782 822463 10005",
        "6011111111111117",
        "3530111333300000",
        "30569309025904",
        "3056 930902 5904",
        "6200000000000005",
        "6205500000000000004",
    ],
}
CASES = [(kind, text) for kind, texts in SHAPES.items() for text in texts]
FRAMES = (
    "{}",
    "My key is {}.",
    "我的密钥是{}，别告诉别人",
    "key={}\n",
    '{{"token": "{}"}}',
    "（{}）",
    "it is `{}`, keep it",
)


@pytest.mark.parametrize(("kind", "secret"), CASES)
def test_a_documented_shape_is_found_in_any_sentence_and_nothing_beside_it(kind: str, secret: str) -> None:
    for frame in FRAMES:
        named = f"aws_secret_access_key = {secret}" if kind == "AWS secret" else secret
        text = frame.format(named)
        found = find_credentials(text)
        assert [one.kind for one in found] == [kind], (text, found)
        start = text.index(secret)
        assert found[0].start == start, text
        assert found[0].end <= start + len(secret), text
        assert found[0].end >= start + len(secret.rstrip("\\n")), text


ORDINARY = [
    "My password is hard to remember, so I use a manager.",
    "密码别写在纸上，密钥也一样。API key、token 和 secret 都要放好。",
    "Set GITHUB_TOKEN and AWS_SECRET_ACCESS_KEY in the environment; the prefix is ghp_ or github_pat_.",
    "OpenAI keys begin with sk-, Slack's with xoxb-, Google's with AIza, and AWS's with AKIA.",
    "A PEM file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
    "-----BEGIN PUBLIC KEY-----\n" + BODY + "\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + BODY + "\n-----END CERTIFICATE-----",
    "task-0123456789abcdef0123456789abcdef and disk-0123456789abcdef0123456789abcdef",
    "eyJub3QiOiJhIGp3dCJ9.eyJub3QiOiJhIGp3dCJ9.aaaaaaaaaaaaaaaa",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b fixes it",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "f47ac10b-58cc-4372-a567-0e02b2c3d479 and 41111111-1111-1111-1111-111111111111",
    "Call +86 138 1234 5678, 13812345678, +49 30 901820 or (212) 555-0123.",
    "快递单号 SF1234567890123，中通 75123456789012，邮政 9861234567890",
    "UPS 1Z999AA10123456784, USPS 9400 1000 0000 0000 0000 00, FedEx 123456789012, DHL 00340434161094042557",
    "运单号：4111111111111111",
    "订单 6200000000000005 已发货",
    "Your tracking number is 4111 1111 1111 1111.",
    "order #4111111111111111",
    "身份证号 620102199003071234",
    "IMEI 490154203237518",
    "timestamps 1700000000000, 1700000000000000 and 1700000000000000000",
    "pi is 3.4111111111111111",
    "4111111111111112 and 0000000000000000 and 4444444444444444",
    "ISBN 978-3-16-148410-0, EAN 4006381333931",
    "IBAN DE89 3704 0044 0532 0130 00",
    "https://example.org/item/4111111111111111",
    "AKIAIOSFODNN7EXAMPLE2 is too long, and AKIA1OSFODNN7EXAMPLE has a digit that base32 has not",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY stands alone",
    "Mr. Brown. Nobody.Really knows. Once.Upon.a time",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_passes(text: str) -> None:
    assert find_credentials(text) == []


def test_what_programs_print_passes() -> None:
    """Identifiers and digests of every kind, and runs of digits that are no cards."""
    chance = random.Random(7)
    for _ in range(2_000):
        raw = chance.randbytes(32)
        number = str(uuid.UUID(bytes=raw[:16]))
        said = f"{number} {raw.hex()} {sha1(raw).hexdigest()} {base64.b64encode(raw).decode()} {raw[:5].hex()}"
        assert find_credentials(said) == [], said
    # parcels: DHL, Deutsche Post, SF, ZTO, YTO, USPS
    for length, first in ((20, "0034"), (14, "75"), (15, "SF"), (18, "YT"), (22, "94"), (12, "1")):
        for _ in range(200):
            number = first + "".join(chance.choices("0123456789", k=length - len(first)))
            assert find_credentials(f"It is on its way: {number}.") == [], number


def test_full_width_forms_are_the_same_number() -> None:
    assert [one.kind for one in find_credentials("卡号４１１１１１１１１１１１１１１１。")] == ["card number"]


@pytest.mark.parametrize("digits", ["", "4", "41111111111111111111", "6200000000000005000"])
def test_a_number_of_another_length_is_no_card(digits: str) -> None:
    assert not is_card_number(digits.rjust(14, "9"))


@pytest.mark.parametrize(
    "piece",
    [
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n" + DER,
        "-----END",
        "eyJ",
        "eyJaaaaaaaa.",
        "eyJaaaaaaaa.eyJaa.",
        "ghp_",
        "glpat-",
        "sk-ant-",
        "xoxb-1",
        "4111 ",
        "4",
        "aws_secret_access_key = ",
        "M" * 24 + ".",
        "1:AA",
        "pypi-AgE",
    ],
)
def test_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    short, long = piece * (60_000 // len(piece)), piece * (480_000 // len(piece))
    spent = []
    for text in (short, long):
        best = min(_timed(text) for _ in range(3))
        spent.append(best)
    assert spent[1] < spent[0] * 30 + 0.05, spent


def _timed(text: str) -> float:
    begun = time.thread_time()
    find_credentials(text)
    return time.thread_time() - begun


def test_the_guard_masks_refuses_or_leaves_alone() -> None:
    text = f"Use ghp_{WORDS} or 4111111111111111, please."
    masking = Guard("mask")
    assert masking.text(text, "memo") == "Use [masked: GitHub token] or [masked: card number], please."
    assert masking.notes == ("A credential in memo was masked (GitHub token and card number); the memory keeps none.",)
    assert masking.text(masking.text(text, "memo"), "memo") == masking.text(text, "memo")
    with pytest.raises(InvalidInputError, match=r"memo holds a credential \(GitHub token and card number\)") as refused:
        Guard("refuse").text(text, "memo")
    assert WORDS not in str(refused.value)
    assert Guard("off").text(text, "memo") == text
    assert Guard("refuse").text("my password", "memo") == "my password"


def test_the_guard_goes_into_objects_and_leaves_identifiers_alone() -> None:
    guard = Guard("mask")
    card = "4111111111111111"
    given = {"message_id": card, "sender_name": card, "meta": {"a": [card, 1, None, True]}, "ts": 1}
    masked = "[masked: card number]"
    assert guard.value(given, "message") == {
        "message_id": card,
        "sender_name": masked,
        "meta": {"a": [masked, 1, None, True]},
        "ts": 1,
    }
    assert [note.split()[3] for note in guard.notes] == ["message.sender_name", "message.meta.a[0]"]
