"""The program of the subprocess that downloads files from the model hub, with its error table.

It prints `started`, then `answered BYTES` when the hub has sent the sizes, then `saved`. The files
are written to the working folder under their names in the repository.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path

CAUSES: Mapping[str, str] = {
    "BadRequestError": "the hub does not understand the request",
    "DisabledRepoError": "the hub has disabled the repository",
    "EntryNotFoundError": "the hub does not have a file of the model",
    "FileMetadataError": "the hub does not describe a file",
    "GatedRepoError": "the hub gives the model to approved accounts only",
    "HFValidationError": "the hub does not allow this repository name",
    "HfHubHTTPError": "the hub failed",
    "LocalEntryNotFoundError": "the hub did not answer",
    "LocalTokenNotFoundError": "the hub requires a token, and none is set",
    "OfflineModeIsEnabled": "the hub is not used while `HF_HUB_OFFLINE` is set",
    "RemoteEntryNotFoundError": "the hub does not have a file of the model",
    "RepositoryNotFoundError": "the hub does not have the repository",
    "RevisionNotFoundError": "the hub does not have the revision",
    "RevisionResolutionError": "the hub does not say which revision is the latest",
    "XetDownloadError": "the hub failed to send a file",
}
"""The plain message for each exception of the hub's client, by its name."""

MESSAGE_PATTERN = r"^the hub "
"""Matches the messages of `CAUSES`."""

_SHA256 = re.compile(r"[0-9a-f]{64}")
_SECONDS_TO_ANSWER = 30


def main(repo: str, *names: str) -> None:
    """Download these files of one revision of the repository."""
    print("started", flush=True)  # noqa: T201 - the parent reads it
    with print_errors():
        _download(repo, names)
    print("saved", flush=True)  # noqa: T201 - the parent reads it


def _download(repo: str, names: Sequence[str]) -> None:
    """Print the total size, then download and verify each file."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    answers = {
        name: get_hf_file_metadata(hf_hub_url(repo, name), timeout=_SECONDS_TO_ANSWER)
        for name in names
    }
    size = sum(answer.size or 0 for answer in answers.values())
    print(f"answered {size}", flush=True)  # noqa: T201 - the parent reads it
    for name, answer in answers.items():
        path = hf_hub_download(repo, name, revision=answer.commit_hash, local_dir=".")
        _verify_hash(Path(path), answer.etag or "")


def _verify_hash(path: Path, etag: str) -> None:
    """Compare a file with the hash that the hub announced; small files have none."""
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    if _SHA256.fullmatch(etag) and digest != etag:
        raise ValueError(f"{path.name} is damaged: SHA-256 {digest}, announced {etag}")


@contextmanager
def print_errors() -> Iterator[None]:
    """Print a plain message for each exception of the hub's client, and raise it again."""
    from huggingface_hub import errors

    kinds = tuple(getattr(errors, name) for name in CAUSES if hasattr(errors, name))
    try:
        yield
    except kinds as error:
        print(_describe_error(error), flush=True)  # noqa: T201 - the parent reads it
        raise


def _describe_error(error: Exception) -> str:
    """Return the message for an exception, by its nearest ancestor in the table."""
    names = (kind.__name__ for kind in type(error).__mro__)
    cause = next(CAUSES[name] for name in names if name in CAUSES)
    status = getattr(getattr(error, "response", None), "status_code", None)
    return f"{cause}: HTTP {status}" if status else cause


if __name__ == "__main__":
    main(*sys.argv[1:])
