"""The directory of an installed model: its files, its manifest, and the choice of precision.

`<models_dir>/<embedding_version>/` holds `model.onnx`, `tokenizer.json`, `tokenizer_config.json`
and `manifest.json`. The weights are in `model.onnx.data`, which the runtime maps into memory, and
a Unigram vocabulary also in `pieces.db`. The directory is built in a working folder and then
renamed, so it is complete or absent.
"""

import json
import math
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.embed.registry import FP32, INT8, EmbeddingModel
from kebab.errors.system import translate_os_errors

if TYPE_CHECKING:
    from kebab.core.ports import Embedder

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
WEIGHTS_FILE = "model.onnx.data"
PIECES_FILE = "pieces.db"
MANIFEST_FILE = "manifest.json"
FILES = (MODEL_FILE, TOKENIZER_FILE, TOKENIZER_CONFIG_FILE)
"""The files of every model."""

OPTIONAL_FILES = (WEIGHTS_FILE, PIECES_FILE)
"""The files that belong to a model when its manifest lists them."""

FP32_SPEEDUP = 1.25
"""How many times as fast fp32 must be to be worth four times the disk and memory of int8.

The margin also covers how much other work on the machine changes the ratio of two measurements.
"""

SPEED_TEXTS = (
    "Where did I write down how to renew the certificate?",
    "The meeting was moved to Thursday, since two of us are travelling until Wednesday evening.",
    """Soak the beans overnight, then cook them slowly with an onion, a bay leaf and some thyme.
    Salt goes in at the end, or else the skins stay hard. What is left over keeps for three days.
    """,
)
"""The texts that the speed is measured with: a question, a sentence and a short passage."""

_SPEED_ROUNDS = 8
_SPEED_SECONDS = 0.6  # of measuring; loading the models takes the rest of a second


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The hash and size of a file."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The description of an installed model and of its download source.

    `cosine` is the cosine of the probe pair and `texts_per_second` the speed of each precision,
    both measured when the model was installed. The speed is empty when one precision was tried.
    """

    model: str
    embedding_version: str
    source: str
    precision: str
    cosine: float | None
    files: dict[str, FileFacts]
    texts_per_second: dict[str, float] = field(default_factory=dict)

    def list_files(self) -> list[str]:
        """Return the names of the files that the directory must hold besides the manifest."""
        return [*FILES, *(name for name in OPTIONAL_FILES if name in self.files)]


def read_file_facts(path: Path) -> FileFacts:
    """Return the hash and size of a file on disk."""
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    return FileFacts(sha256=digest, size=path.stat().st_size)


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest into a model directory."""
    text = json.dumps(asdict(manifest), indent=2) + "\n"
    (directory / MANIFEST_FILE).write_text(text, encoding="utf-8")


def read_manifest(directory: Path) -> Manifest | None:
    """Return the manifest of a model directory, or None when there is no readable one.

    Fields of later releases are ignored.
    """
    try:
        raw = json.loads((directory / MANIFEST_FILE).read_text(encoding="utf-8"))
        files = {name: FileFacts(**entry) for name, entry in raw.pop("files").items()}
        raw["texts_per_second"] = dict(raw.get("texts_per_second", {}))
        known = {entry.name for entry in fields(Manifest)} & raw.keys()
        return Manifest(files=files, **{name: raw[name] for name in known})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
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
    expected = [(directory / name, manifest.files.get(name)) for name in manifest.list_files()]
    return all(file is not None and _get_file_size(path) == file.size for path, file in expected)


def _get_file_size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def is_unchanged(directory: Path) -> bool:
    """Return whether no file is newer than the manifest, which installation writes last."""
    manifest = read_manifest(directory)
    if manifest is None:
        return False
    try:
        newest = max((directory / name).stat().st_mtime_ns for name in manifest.list_files())
        return newest <= (directory / MANIFEST_FILE).stat().st_mtime_ns
    except OSError:
        return False


def find_intact(model: EmbeddingModel, models_dir: Path, *, verify: bool = False) -> Path | None:
    """Return the model's directory unless a file is missing or damaged.

    The bytes are compared only with `verify`, or when a file is newer than its manifest. If they
    are right, the manifest becomes the newest file again.
    """
    directory = find_installed(model, models_dir)
    if directory is None or (not verify and is_unchanged(directory)):
        return directory
    if verify_files(directory):
        return None
    with suppress(OSError):
        os.utime(directory / MANIFEST_FILE)
    return directory


def verify_files(directory: Path) -> list[str]:
    """Compare every byte of a model directory with its manifest; return the faults."""
    manifest = read_manifest(directory)
    if manifest is None:
        return [f"no readable {MANIFEST_FILE}"]
    faults = []
    for name in manifest.list_files():
        expected, path = manifest.files.get(name), directory / name
        if expected is None or not path.is_file():
            faults.append(f"missing: {name}")
        elif read_file_facts(path) != expected:
            faults.append(f"changed: {name}")
    return faults


def publish_directory(ready: Path, model: EmbeddingModel, models_dir: Path) -> Path:
    """Move a finished directory to its final path and return that path.

    A complete directory that another process has put there meanwhile stays.
    """
    target = models_dir / model.version
    with translate_os_errors(target, "create"):
        for path in ready.iterdir():
            _flush_to_disk(path)
        if target.exists() and (find_installed(model, models_dir) is None or verify_files(target)):
            target.rename(ready.with_name("replaced"))
        with suppress(FileExistsError):
            _rename_directory(ready, target)
    return target


def _rename_directory(ready: Path, target: Path) -> None:
    """Rename a directory; raise `FileExistsError` on every system when the target has files."""
    try:
        ready.rename(target)
    except OSError as error:
        if target.is_dir():
            raise FileExistsError(error.errno, error.strerror, str(target)) from error
        raise


def _flush_to_disk(path: Path) -> None:
    """Wait until a file is on the disk, so that a renamed directory has its contents."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def delete_folder(folder: Path) -> None:
    """Delete a working folder; files that cannot be deleted stay."""
    shutil.rmtree(folder, ignore_errors=True)


def choose_precision(rates: Mapping[str, float]) -> str:
    """Return the precision to install for these texts per second; int8 unless both are known."""
    if not {INT8, FP32} <= rates.keys():
        return INT8
    return FP32 if rates[FP32] >= FP32_SPEEDUP * rates[INT8] else INT8


def measure_speed(embedders: "Mapping[str, Embedder]") -> dict[str, float]:
    """Return the texts per second of each embedder, by the best time of each text.

    int8 is two to three times as fast on processors with int8 instructions, and may be slower than
    fp32 on others, so the speed is measured. The embedders take turns. The first round is always
    finished; no other round begins after the time is over.
    """
    for embedder in embedders.values():
        embedder.embed_query(SPEED_TEXTS[0])  # the set-up of the first call is not measured
    best = {name: [math.inf] * len(SPEED_TEXTS) for name in embedders}
    end = time.perf_counter() + _SPEED_SECONDS
    for _ in range(_SPEED_ROUNDS):
        for name, embedder in embedders.items():
            best[name] = [*map(min, best[name], _time_texts(embedder))]
        if time.perf_counter() >= end:
            break
    return {name: round(len(SPEED_TEXTS) / sum(seconds), 1) for name, seconds in best.items()}


def _time_texts(embedder: "Embedder") -> Iterator[float]:
    for text in SPEED_TEXTS:
        started = time.perf_counter()
        embedder.embed_query(text)
        yield time.perf_counter() - started
