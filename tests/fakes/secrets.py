"""Generated keys of each form, so that none is stored anywhere, and texts that hold none."""

import base64
import json
import random
import string
from collections.abc import Callable, Iterator

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_BASE64URL = _ALNUM + "-_"

Draw = Callable[[str, int], str]


def _draw_jwt(draw: Draw) -> str:
    def encode(fields: dict[str, str]) -> str:
        return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")

    return f"{encode({'alg': 'HS256'})}.{encode({'sub': draw(_ALNUM, 12)})}.{draw(_BASE64URL, 43)}"


def _draw_private_key(draw: Draw) -> str:
    return "\n".join(draw(_ALNUM + "+/", 64) for _ in range(6))


_PEM = "-----{} RSA PRIVATE KEY-----"
FORMS: dict[str, tuple[Callable[[Draw], str], str]] = {
    "aws id": (lambda d: "AKIA" + d(string.ascii_uppercase + string.digits, 16), "id: {}"),
    "aws secret": (lambda d: d(_ALNUM + "+/", 40), "aws_secret_access_key = {}"),
    "github": (lambda d: "ghp_" + d(_ALNUM, 36), "git clone with {} now"),
    "github fine": (lambda d: f"github_pat_{d(_ALNUM, 22)}_{d(_ALNUM, 59)}", "<{}>"),
    "gitlab": (lambda d: "glpat-" + d(_BASE64URL, 20), "PRIVATE-TOKEN: {}"),
    "slack": (lambda d: f"xoxb-{d(string.digits, 11)}-{d(_ALNUM, 24)}", "bot {}"),
    "stripe": (lambda d: "sk_live_" + d(_ALNUM, 24), "curl -u {}:"),
    "openai": (lambda d: "sk-proj-" + d(_BASE64URL, 48), "key {}."),
    "anthropic": (lambda d: "sk-ant-api03-" + d(_BASE64URL, 93), "key {}."),
    "google": (lambda d: "AIza" + d(_BASE64URL, 35), "?key={}"),
    "jwt": (_draw_jwt, "cookie {}"),
    "npm": (lambda d: "npm_" + d(_ALNUM, 36), "//registry/:_authToken={}"),
    "pypi": (lambda d: "pypi-AgEIcHlwaS5vcmc" + d(_BASE64URL, 80), "twine {}"),
    "hugging face": (lambda d: "hf_" + d(string.ascii_letters, 34), "login {}"),
    "sendgrid": (lambda d: f"SG.{d(_BASE64URL, 22)}.{d(_BASE64URL, 43)}", "{}"),
    "digitalocean": (lambda d: "dop_v1_" + d(_HEX, 64), "{}"),
    "private key": (_draw_private_key, f"{_PEM.format('BEGIN')}\n{{}}\n{_PEM.format('END')}"),
    "part of a private key": (_draw_private_key, "{}"),
    "password of an address": (lambda d: d(_ALNUM, 14), "postgres://app:{}@db.internal/x"),
    "assigned hex": (lambda d: d(_HEX, 32), 'api_key = "{}"'),
    "assigned base64": (lambda d: d(_ALNUM + "+/", 32), "client-secret: {}"),
    "assigned password": (lambda d: d(_ALNUM + "!-_", 16), "DB_PASSWORD={}"),
    "annotated": (lambda d: d(_ALNUM, 24), 'token: str = "{}"'),
    "json": (lambda d: d(_ALNUM, 24), '{{"secretToken": "{}"}}'),
    "xml": (lambda d: d(_ALNUM, 20), "<password>{}</password>"),
    "flag": (lambda d: d(_ALNUM, 20), "deploy --token {} --now"),
    "bearer": (lambda d: d(_ALNUM, 40), "Authorization: Bearer {}"),
    "korean": (lambda d: d(_ALNUM, 16), "비밀번호: {}"),
}
"""For each form of secret: how one is generated, and a text around it."""

CLEAN = (
    "commit 3f785a91c0d4b2e67f98a1b3c5d7e9f0a2b4c6d8",
    "id 123e4567-e89b-42d3-a456-426614174000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "password = YOUR_API_KEY_2",
    "token: ${TOKEN_1}",
    "secret = xxxxxxxxxxxxxxxx1",
    "api_key = os.environ['KEY_2']",
    "PASSWORD=changeme123",
    "SECRET_KEY = settings.API_KEY_V2",
    "token = get_token_v2(request)",
    "private_key: ed25519.Ed25519PrivateKey | None",
    "the token expires: 2024-01-01T00:00:00Z",
    "http://user:password1@example.org",
    "http://localhost:8080/@user",
    "image data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "sk-fading-circle-12-inner-dot",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA" + "a1B2" * 5,
)
"""Texts without a secret."""


def draw_texts(form: str, count: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Yield generated secrets of a form, and texts around them."""
    source = random.Random(f"{form} {seed}")

    def draw(alphabet: str, size: int) -> str:
        return "".join(source.choices(alphabet, k=size))

    build, text = FORMS[form]
    for _ in range(count):
        secret = build(draw)
        yield secret, text.format(secret)


def is_hidden(secret: str, masked: str) -> bool:
    """Return whether no line of a secret is left in a text, beside its first characters."""
    return not any(line[4:12] in masked for line in secret.split("\n"))
