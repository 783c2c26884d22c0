"""The directory of an installed model: which files it has, and how it comes to be whole.

`<models_dir>/<embedding_version>/` holds `model.onnx`, `tokenizer.json`, `tokenizer_config.json`
and `manifest.json`. It is built beside its place and renamed into it, so it is whole or absent.
"""

import json
import os
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import file_digest
from pathlib import Path

from kebab.embed.models import EmbeddingModel
from kebab.errors.refusal import refused

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
MANIFEST_FILE = "manifest.json"
FILES = (MODEL_FILE, TOKENIZER_FILE, TOKENIZER_CONFIG_FILE)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What a file must be."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What an installed model is and where it came from.

    `cosine` is what the golden pair gave when the model was installed. `texts_per_second` is what
    each precision reached then, empty when only one was tried.
    """

    model: str
    embedding_version: str
    source: str
    precision: str
    cosine: float | None
    files: dict[str, FileFacts]
    texts_per_second: dict[str, float] = field(default_factory=dict)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def facts(path: Path) -> FileFacts:
    """Return what a file is now."""
    return FileFacts(sha256=sha256(path), size=path.stat().st_size)


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest into a model directory."""
    text = json.dumps(asdict(manifest), indent=2) + "\n"
    (directory / MANIFEST_FILE).write_text(text, encoding="utf-8")


def read_manifest(directory: Path) -> Manifest | None:
    """Return the manifest of a model directory, or None when there is none that can be read.

    What a later release has added to it is passed over.
    """
    try:
        raw = json.loads((directory / MANIFEST_FILE).read_text(encoding="utf-8"))
        files = {name: FileFacts(**entry) for name, entry in raw.pop("files").items()}
        raw["texts_per_second"] = dict(raw.get("texts_per_second", {}))
        known = {entry.name for entry in fields(Manifest)} & raw.keys()
        return Manifest(files=files, **{name: raw[name] for name in known})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def proven(manifest: Manifest, cosine: float) -> Manifest:
    """Return the manifest with what the golden pair gave."""
    return replace(manifest, cosine=cosine)


def installed(model: EmbeddingModel, models_dir: Path) -> Path | None:
    """Return the model's directory when all its files are there in full size, else None."""
    directory = models_dir / model.version
    return directory if whole(model, directory) else None


def whole(model: EmbeddingModel, directory: Path) -> bool:
    """Return whether a directory holds this model with all its files in full size."""
    manifest = read_manifest(directory)
    if manifest is None or manifest.embedding_version != model.version:
        return False
    expected = [(directory / name, manifest.files.get(name)) for name in FILES]
    return all(file is not None and _size(path) == file.size for path, file in expected)


def _size(path: Path) -> int | None:
    """Return the size of a file, or None when there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def verify(directory: Path) -> list[str]:
    """Return what is wrong with a model directory, every byte read; empty means nothing."""
    manifest = read_manifest(directory)
    if manifest is None:
        return [f"no readable {MANIFEST_FILE}"]
    faults = []
    for name in FILES:
        expected, path = manifest.files.get(name), directory / name
        if expected is None or not path.is_file():
            faults.append(f"missing: {name}")
        elif facts(path) != expected:
            faults.append(f"changed: {name}")
    return faults


def publish(ready: Path, model: EmbeddingModel, models_dir: Path) -> Path:
    """Move a finished directory into its place and return it.

    A whole directory that another process put there meanwhile is left alone.
    """
    target = models_dir / model.version
    with refused(target, "create"):
        for name in (*FILES, MANIFEST_FILE):
            _flush(ready / name)
        if target.exists() and (installed(model, models_dir) is None or verify(target)):
            target.rename(ready.with_name("replaced"))
        with suppress(FileExistsError):
            _rename(ready, target)
    return target


def _rename(ready: Path, target: Path) -> None:
    """Rename a directory; a target with files in it is a `FileExistsError` on every system."""
    try:
        ready.rename(target)
    except OSError as error:
        if target.is_dir():
            raise FileExistsError(error.errno, error.strerror, str(target)) from error
        raise


def _flush(path: Path) -> None:
    """Wait until a file is on the disk, so that a renamed directory is never hollow."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def discard(folder: Path) -> None:
    """Delete a working folder; what cannot be deleted stays."""
    shutil.rmtree(folder, ignore_errors=True)
