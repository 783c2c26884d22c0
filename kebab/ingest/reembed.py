"""Changes the embedding model of a knowledge base.

The vectors of the old model stop to count in one transaction. From then on searches use words and
the new vectors that are there already, as during a first ingest; the next ingest embeds what a
cancelled or killed change leaves.
"""

from collections.abc import Callable

from kebab.core.ports import LibraryWriter, VectorWriter
from kebab.core.progress import ProgressKind
from kebab.ingest.job import LoadedModel, RunContext
from kebab.ingest.vectors import VectorSync
from kebab.wire.ingest import EmbeddingSummary


def reembed(
    library: LibraryWriter,
    open_index: Callable[[str], VectorWriter],
    model: LoadedModel,
    context: RunContext,
) -> EmbeddingSummary:
    """Make this the model of the knowledge base, and embed every passage with it.

    `pending` of the summary counts the passages that have no vector yet.
    """
    ended = ProgressKind.ABORTED
    try:
        sync = VectorSync(library, open_index, context)
        sync.change_model(model.embedder, reason=model.reason)
        sync.update(model.embedder)
        library.checkpoint()
        if not context.cancel.requested:
            ended = ProgressKind.COMPLETED
    finally:
        context.reporter.send(ended)
    return sync.build_summary()
