"""Changing the model: every passage gets a new vector, and no file is read."""

from collections.abc import Callable

from kebab.core.cancel import Cancel
from kebab.core.ports import Clock, Embedder, LibraryWriter, VectorWriter
from kebab.core.progress import ProgressKind, Report
from kebab.ingest.pulse import Pulse
from kebab.ingest.vectors import Around, VectorSide
from kebab.wire.ingest import EmbeddingSummary


def reembed(
    library: LibraryWriter,
    vectors: Callable[[str], VectorWriter],
    embedder: Embedder,
    around: tuple[Report, Clock, Cancel],
) -> EmbeddingSummary:
    """Make this the model of the knowledge base; interrupted, the rest stays pending."""
    report, clock, cancel = around
    pulse = Pulse(report, clock)
    ended = ProgressKind.ABORTED
    try:
        side = VectorSide(library, vectors, Around(pulse=pulse, clock=clock, cancel=cancel))
        side.adopt(embedder, rebuild=True)
        side.follow(embedder)
        library.checkpoint()
        if not cancel.requested:
            ended = ProgressKind.COMPLETED
    finally:
        pulse.say(ended)
    return side.outcome()
