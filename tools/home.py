"""Runs kebab in a home of its own, for programs that judge what it says."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

_NO_SERVER = "127.0.0.1:9"
_STOP_S = 20.0


def build_environment(home: Path, models: Path | None = None) -> dict[str, str]:
    """Return the variables of a home that needs no network; `models` has embedding models."""
    places = ("CONFIG", "DATA", "CACHE", "STATE")
    model = {"KEBAB_MODELS_EMBEDDING_MODEL": "all-minilm-l6-v2"} if models else {}
    return {
        **{f"XDG_{place}_HOME": str(home / place.lower()) for place in places},
        **model,
        "HOME": str(home),
        "KEBAB_DATA_DIR": str(home / "data"),
        "KEBAB_MODELS_DIR": str(models or home / "models"),
        "KEBAB_OFFLINE": "true",
        "OLLAMA_HOST": _NO_SERVER,
        "PATH": os.environ.get("PATH", os.defpath),
    }


@contextmanager
def run_server(environment: Mapping[str, str], folder: Path) -> Iterator[httpx.Client]:
    """Yield a client of a server that may write, with its token.

    Raises:
        RuntimeError: The server does not start, or prints a traceback.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "kebab", "serve", "--port", "0", "--allow-write", "--json"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=dict(environment),
        cwd=folder,
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        started = json.loads(line or b"{}")
        if "url" not in started:
            raise RuntimeError(f"the server did not start: {line!r}")
        token = Path(started["token_path"]).read_text(encoding="utf-8").strip()
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=started["url"], headers=headers, timeout=60) as client:
            yield client
    finally:
        process.terminate()
        told = process.communicate(timeout=_STOP_S)[1]
    if b"Traceback" in told:
        raise RuntimeError(told.decode(errors="replace")[-2_000:])
