"""Installs embedding models: finds their directories, or downloads, converts and publishes them.

`<models_dir>/<embedding_version>/` holds `model.onnx`, `tokenizer.json`, `tokenizer_config.json`
and `manifest.json`. The weights are in `model.onnx.data`, which the runtime maps into memory, and a
Unigram vocabulary also in `pieces.db`. The directory is built in a working folder and then renamed,
so it is complete or absent.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import file_digest
from pathlib import Path

import msgspec
from msgspec import Struct

from kebab.config.settings import AUTO
from kebab.core.durable import sync_names
from kebab.core.progress import Cancel, ignore_progress
from kebab.embed import registry
from kebab.embed.registry import EmbeddingModel
from kebab.embed.sources import (
    CONVERSION,
    CONVERT,
    PATIENT,
    QUICK,
    FetchProgress,
    list_sources,
)
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.errors.system import translate_os_errors
from kebab.platform import sync_path

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
WEIGHTS_FILE = "model.onnx.data"
PIECES_FILE = "pieces.db"
MANIFEST_FILE = "manifest.json"
FILES = (MODEL_FILE, TOKENIZER_FILE, TOKENIZER_CONFIG_FILE)
"""The files of every model; its manifest lists them and others."""


class FileFacts(Struct, frozen=True):
    """The hash and size of a file."""

    sha256: str
    size: int


class Manifest(Struct, frozen=True, kw_only=True):
    """The description of an installed model and of its download source."""

    embedding_version: str
    source: str
    files: dict[str, FileFacts]


def read_file_facts(path: Path) -> FileFacts:
    """Return the hash and size of a file on disk."""
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    return FileFacts(sha256=digest, size=path.stat().st_size)


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest into a model directory."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    (directory / MANIFEST_FILE).write_bytes(text)


def read_manifest(directory: Path) -> Manifest | None:
    """Return the manifest of a model directory, or None when there is no readable one.

    Fields of later releases are ignored.
    """
    try:
        return msgspec.json.decode((directory / MANIFEST_FILE).read_bytes(), type=Manifest)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def find_installed(model: EmbeddingModel, models_dir: Path) -> Path | None:
    """Return the model's directory when all its files are there in full size, else None."""
    directory = models_dir / model.version
    return directory if is_complete(model, directory) else None


def is_complete(model: EmbeddingModel, directory: Path) -> bool:
    """Return whether a directory holds this model with all its files in full size."""
    manifest = read_manifest(directory)
    if manifest is None or manifest.embedding_version != model.version:
        return False
    if not manifest.files.keys() >= set(FILES):
        return False
    with suppress(OSError):
        return all(
            (directory / name).stat().st_size == facts.size
            for name, facts in manifest.files.items()
        )
    return False


def verify_files(directory: Path) -> list[str]:
    """Compare every byte of a model directory with its manifest; return the faults."""
    manifest = read_manifest(directory)
    if manifest is None:
        return [f"no readable {MANIFEST_FILE}"]
    paths = {name: directory / name for name in manifest.files}
    missing = [f"missing: {name}" for name, path in paths.items() if not path.is_file()]
    return missing or [
        f"changed: {name}"
        for name, path in paths.items()
        if read_file_facts(path) != manifest.files[name]
    ]


def publish_directory(ready: Path, model: EmbeddingModel, models_dir: Path) -> Path:
    """Move a finished directory to its final path and return that path.

    A complete directory that another process has put there meanwhile stays.
    """
    target = models_dir / model.version
    with translate_os_errors(target, "create"):
        for path in (*ready.iterdir(), ready):  # so that the renamed directory has its contents
            sync_path(path)
        if target.exists() and (find_installed(model, models_dir) is None or verify_files(target)):
            target.rename(ready.with_name("replaced"))
        try:
            ready.rename(target)
        except OSError:  # which one depends on the system
            if not target.is_dir():
                raise
        sync_names(models_dir)
    return target


_ABANDONED_SECONDS = 24 * 3600
_WORKING = ".fetch-"


def install_model(
    models_dir: Path,
    model: EmbeddingModel | Sequence[EmbeddingModel] | None = None,
    *,
    progress: FetchProgress | None = None,
    offline: bool = False,
    patient: bool = False,
    folder: Path | None = None,
) -> tuple[EmbeddingModel, Path]:
    """Return the model, or the first of several that can be had, and its directory.

    A model that is not installed is downloaded and converted. Without `patient` a source that does
    not answer within seconds is abandoned. With `patient` the bytes of an installed model are
    always verified. A damaged model does not count as installed. With `folder` its files are the
    source, and nothing is downloaded.

    Raises:
        EmbeddingUnavailable: No model is installed and no source gave one.
        Cancelled: The work was asked to stop.
        IoError: The models directory cannot be written.
    """
    models = (model,) if isinstance(model, EmbeddingModel) else tuple(model or registry.MODELS)
    progress = progress or FetchProgress(ignore_progress, Cancel())
    patience = PATIENT if patient else QUICK
    failures: dict[str, str] = {}
    """The reason of each source that failed, by its label; it is not asked for another model."""
    for candidate in models:
        directory = find_installed(candidate, models_dir)
        if directory is not None and not (patient and verify_files(directory)):
            return candidate, directory
        if offline and folder is None:
            continue
        with _make_working_folder(models_dir) as work, translate_os_errors(work, "write"):
            for number, source in enumerate(list_sources(candidate, folder)):
                if source.label in failures:
                    continue
                fetched, ready = folder or work / str(number), work / f"{number}-ready"
                reason = progress.run("download", source, source.arguments, fetched, patience)
                if reason is None:
                    command = (*CONVERT, candidate.key, source.origin, str(fetched), str(ready))
                    reason = progress.run("convert", source, command, work / "work", CONVERSION)
                if reason is None:
                    return candidate, publish_directory(ready, candidate, models_dir)
                failures[source.label] = reason
    raise EmbeddingUnavailable(
        model=models[0].key if model else AUTO,
        tried=list(failures),
        cause="; ".join(f"{label}: {reason}" for label, reason in failures.items())
        or "working offline",
    )


def find_stored_model(version: str | None, models_dir: Path) -> tuple[EmbeddingModel, Path]:
    """Return the model of the stored vectors and its directory; nothing is downloaded.

    Raises:
        EmbeddingUnavailable: No vector is stored, or the weights are not on this machine.
    """
    if version is None:
        raise EmbeddingUnavailable(model=AUTO, tried=[], cause="no model was chosen yet")
    model = registry.find_named(version)
    if model is None:
        cause = "the settings and this build do not have the model of the stored vectors"
        raise EmbeddingUnavailable(model=version, tried=[], cause=cause)
    ready = find_installed(model, models_dir)
    if ready is None:
        cause = "the model of the stored vectors is not installed"
        # The hint names the model: `auto` may install another, which cannot query these vectors.
        raise EmbeddingUnavailable(model=model.key, tried=[], cause=cause)
    return model, ready


@contextmanager
def _make_working_folder(models_dir: Path) -> Iterator[Path]:
    """Yield a working folder beside the installed models, and delete it at the end.

    Old working folders of processes that were killed are deleted first.
    """
    with translate_os_errors(models_dir, "create"):
        models_dir.mkdir(parents=True, exist_ok=True)
        oldest = time.time() - _ABANDONED_SECONDS
        for abandoned in models_dir.glob(f"{_WORKING}*"):
            if abandoned.stat().st_mtime < oldest:
                shutil.rmtree(abandoned, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=_WORKING, dir=models_dir.resolve()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
