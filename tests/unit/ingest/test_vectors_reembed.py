from kebab.core.ids import sort_keys
from kebab.core.progress import Cancel, ProgressKind
from kebab.ingest.job import LoadedModel, RunContext
from kebab.ingest.vectors import reembed
from tests.fakes.embedder import HashingEmbedder


def test_every_passage_gets_a_vector_of_the_new_model_and_no_file_is_read(desk):
    path = desk.write("a.md", "text")
    desk.ingest()
    path.unlink()
    model = HashingEmbedder(version="another")
    context = RunContext(desk.events.append, desk.clock, Cancel())

    outcome = reembed(desk.library, desk.ports().vectors, LoadedModel(model), context)

    desk.check()
    assert (outcome.version, outcome.embedded, outcome.pending) == ("another", 1, 0)
    assert desk.tables["hashing-words-384-v1"].list_keys() == sort_keys([])
    assert desk.events[-1].kind is ProgressKind.COMPLETED


def test_interrupted_the_rest_stays_pending(desk):
    desk.write("a.md", "text")
    desk.ingest()
    cancel = Cancel()
    cancel.request()
    context = RunContext(desk.events.append, desk.clock, cancel)

    model = LoadedModel(HashingEmbedder(version="new"))
    outcome = reembed(desk.library, desk.ports().vectors, model, context)

    assert (outcome.embedded, outcome.pending) == (0, 1)
    assert desk.events[-1].kind is ProgressKind.ABORTED
