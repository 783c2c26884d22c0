"""Measures what `mask_secrets` finds: generated keys, and false hits in real text.

    python -m tools.secrets [FOLDER ...] [--count N] [--list]

Keys of each form are generated at random, so that none is stored anywhere. In the files of the
folders, which should hold none, every masked stretch is printed with `--list`, masked.
"""

import argparse
import base64
import json
import random
import string
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from kebab.text.secrets import mask_secrets

_TEXT_SUFFIXES = {".md", ".rst", ".txt", ".py", ".html", ".js", ".yml", ".yaml", ".json", ".toml"}
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
    source = random.Random(f"{form} {seed}")  # noqa: S311 - not for security

    def draw(alphabet: str, size: int) -> str:
        return "".join(source.choices(alphabet, k=size))

    build, text = FORMS[form]
    for _ in range(count):
        secret = build(draw)
        yield secret, text.format(secret)


def is_hidden(secret: str, masked: str) -> bool:
    """Return whether no line of a secret is left in a text, beside its first characters."""
    return not any(line[4:12] in masked for line in secret.split("\n"))


def find_masked(path: Path) -> tuple[int, float, list[str]]:
    """Return the characters of a file, the seconds, and the lines with something masked."""
    text = path.read_text(errors="replace")
    started = time.process_time()
    masked = mask_secrets(text)
    seconds = time.process_time() - started
    pairs = zip(text.split("\n"), masked.split("\n"), strict=True)
    return len(text), seconds, [new for old, new in pairs if old != new]


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(arguments: list[str]) -> int:
    """Print the share of generated keys that are masked, and what is masked in the folders."""
    parser = argparse.ArgumentParser(prog="python -m tools.secrets", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args(arguments)
    for form in FORMS:
        found = sum(
            is_hidden(key, mask_secrets(text)) for key, text in draw_texts(form, options.count)
        )
        _print(f"{found / options.count:7.4f}  {form}")
    wrong = [text for text in CLEAN if mask_secrets(text) != text]
    _print(f"masked without a secret: {wrong}" if wrong else "nothing is masked without a secret")
    for folder in options.folders:
        files = [one for one in folder.rglob("*") if one.suffix in _TEXT_SUFFIXES and one.is_file()]
        results = [(one, *find_masked(one)) for one in files]
        chars, seconds = sum(row[1] for row in results), sum(row[2] for row in results)
        lines = [(row[0], line) for row in results for line in row[3]]
        speed = chars / 1e6 / (seconds or 1)
        _print(
            f"{folder}: {len(lines)} lines in {len(files)} files, {chars:,} characters,"
            f" {speed:.0f} million characters a second"
        )
        for path, line in lines if options.list else []:
            _print(f"  {path}: {line[:200]}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
