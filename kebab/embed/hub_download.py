"""The program of the child process that downloads files from the model hub.

Prints `started`, then `answered BYTES` once the hub has told the sizes, then `saved`. Files land
in the working folder under their names in the repository.
"""

import re
import sys
from collections.abc import Sequence
from hashlib import file_digest
from pathlib import Path

from kebab.embed.hub_faults import worded

_SHA256 = re.compile(r"[0-9a-f]{64}")
_SECONDS_TO_ANSWER = 30


def main(repo: str, *names: str) -> None:
    """Download these files of one revision of the repository."""
    print("started", flush=True)  # noqa: T201 - the parent reads it
    with worded():
        _download(repo, names)
    print("saved", flush=True)  # noqa: T201 - the parent reads it


def _download(repo: str, names: Sequence[str]) -> None:
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    answers = {
        name: get_hf_file_metadata(hf_hub_url(repo, name), timeout=_SECONDS_TO_ANSWER)
        for name in names
    }
    size = sum(answer.size or 0 for answer in answers.values())
    print(f"answered {size}", flush=True)  # noqa: T201 - the parent reads it
    for name, answer in answers.items():
        path = hf_hub_download(repo, name, revision=answer.commit_hash, local_dir=".")
        _check(Path(path), answer.etag or "")


def _check(path: Path, etag: str) -> None:
    """Compare a file with the hash that the hub announced; small files come without one.

    Raises:
        ValueError: The bytes are not those that the hub announced.
    """
    with path.open("rb") as file:
        found = file_digest(file, "sha256").hexdigest()
    if _SHA256.fullmatch(etag) and found != etag:
        raise ValueError(f"{path.name} is damaged: SHA-256 {found}, announced {etag}")


if __name__ == "__main__":
    main(*sys.argv[1:])
