"""The facade passes everything on, opens stores late, and keeps its word about reading only."""

import msgspec
import pytest

from kebab.app.facade import Kebab
from kebab.app.requests import (
    DupesOptions,
    FetchOptions,
    IngestOptions,
    ListOptions,
    RelatedOptions,
    TextOptions,
    WhyOptions,
)
from kebab.config.load import load
from kebab.core.cancel import Cancel
from kebab.embed.registry import MINILM
from kebab.errors.catalog import NotIndexed, ReadOnly
from kebab.wire.library import (
    ChunkInspection,
    DocInspection,
    FetchResult,
    NotFound,
    RemoveReport,
)
from kebab.wire.search import SearchRequest

NAMED = FetchOptions(name="a.md", start=1)

WHY = WhyOptions(name="a.md", request=SearchRequest(query="cat"))
WRITES = {
    "ingest": lambda kebab: kebab.ingest(IngestOptions()),
    "ingest text": lambda kebab: kebab.ingest_text(TextOptions(text=b"x", title="t")),
    "rm": lambda kebab: kebab.remove(["a.md"]),
    "reset": lambda kebab: kebab.reset(models=True),
    "init": lambda kebab: kebab.init(workspace=None, force=True),
    "model pull": lambda kebab: kebab.pull("auto"),
    "model use": lambda kebab: kebab.use("auto"),
    "session rm": lambda kebab: kebab.forget_sessions(["talk"]),
}
READS = {
    "search": lambda kebab: kebab.search(SearchRequest(query="cat")),
    "list": lambda kebab: kebab.list_documents(ListOptions()),
    "inspect doc": lambda kebab: kebab.inspect_doc("a.md"),
    "inspect chunk": lambda kebab: kebab.inspect_chunk("a"),
    "fetch chunk": lambda kebab: kebab.fetch_chunk(NAMED),
    "fetch doc": lambda kebab: kebab.fetch_doc(NAMED),
    "fetch span": lambda kebab: kebab.fetch_span(NAMED),
    "related": lambda kebab: kebab.related(RelatedOptions(name="a.md")),
    "why": lambda kebab: kebab.why(WHY),
    "dupes": lambda kebab: kebab.dupes(DupesOptions()),
    "session list": lambda kebab: kebab.sessions(),
    "session show": lambda kebab: kebab.session("talk"),
}
LOOKS = {
    "doctor": lambda kebab: kebab.doctor(),
    "schema": lambda kebab: kebab.introspect(),
    "models": lambda kebab: kebab.models(),
    "plan": lambda kebab: kebab.plan_reset(models=True),
}


@pytest.fixture
def opened(lab):
    """What opens a knowledge base of the desk."""

    def build(*, read_only=False):
        settings = load(environ={}, flags=lab.flags)
        return Kebab(settings, config_path=lab.config, read_only=read_only)

    return build


@pytest.fixture
def filled(lab, opened):
    lab.write("a.md", "# Cat\n\nthe cat sleeps\n")
    with opened() as kebab:
        kebab.ingest(IngestOptions(paths=(str(lab.notes),)))
    return lab


def test_a_whole_session(lab, opened):
    lab.write("a.md", "# Cat\n\nthe cat sleeps\n")
    kinds: list[str] = []
    with opened() as kebab:
        assert kebab.init(workspace=str(lab.notes), force=False).written
        report = kebab.ingest(
            IngestOptions(paths=(str(lab.notes),)), lambda event: kinds.append(event.kind)
        )
        text = kebab.ingest_text(TextOptions(text=b"the dog runs", title="Dog"))
        (hit,) = kebab.search(SearchRequest(query="cat", mode="lexical")).hits
        (item,) = kebab.bulk([b'"dog"'])
        assert (report.new, text.new, kinds[-1]) == (1, 1, "completed")
        assert item.response is not msgspec.UNSET
        assert item.response.hits
        assert kebab.list_documents(ListOptions()).total == 2
        assert isinstance(kebab.inspect_doc(hit.doc_id), DocInspection)
        assert isinstance(kebab.inspect_chunk(hit.chunk_id), ChunkInspection)
        options = FetchOptions(name=hit.chunk_id)
        for fetched in (
            kebab.fetch_chunk(options),
            kebab.fetch_doc(NAMED),
            kebab.fetch_span(FetchOptions(name="a.md", start=3)),
        ):
            assert isinstance(fetched, FetchResult)
            assert "the cat sleeps" in fetched.text
        assert kebab.pull(MINILM.key).fetched is False
        assert kebab.use(MINILM.key).embedded == 2
        assert kebab.models().models[1].active
        assert kebab.doctor().ok
        assert kebab.introspect().stats.doc_count == 2
        assert isinstance(kebab.remove(["a.md"]), RemoveReport)
        assert kebab.plan_reset(models=False).removed == kebab.reset(models=False).removed
    assert not lab.data.exists()


def test_looking_opens_and_makes_nothing(lab, opened):
    before = lab.tree()
    with opened():
        pass

    assert lab.tree() == before


@pytest.mark.parametrize("name", WRITES)
def test_read_only_refuses_every_write_and_creates_nothing(lab, opened, name):
    before = lab.tree()
    with opened(read_only=True) as kebab, pytest.raises(ReadOnly):
        WRITES[name](kebab)

    assert lab.tree() == before


@pytest.mark.parametrize("name", WRITES)
def test_read_only_refuses_every_write_to_what_is_there(filled, opened, name):
    before = filled.tree()
    with opened(read_only=True) as kebab, pytest.raises(ReadOnly):
        WRITES[name](kebab)

    assert filled.tree() == before


@pytest.mark.parametrize("name", [*READS, *LOOKS])
def test_read_only_reads_and_changes_nothing(filled, opened, name):
    before = filled.tree()
    with opened(read_only=True) as kebab:
        {**READS, **LOOKS}[name](kebab)

    assert filled.tree() == before


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("read_only", [False, True])
def test_reading_needs_a_knowledge_base(lab, opened, name, read_only):
    before = lab.tree()
    with opened(read_only=read_only) as kebab, pytest.raises(NotIndexed) as caught:
        READS[name](kebab)

    assert (caught.value.data_dir, caught.value.found) == (str(lab.data), None)
    assert lab.tree() == before


@pytest.mark.parametrize("name", LOOKS)
def test_looking_needs_none(lab, opened, name):
    before = lab.tree()
    with opened() as kebab:
        LOOKS[name](kebab)

    assert lab.tree() == before


@pytest.mark.parametrize("name", READS)
def test_a_newer_database_is_not_read(desk, newer, name):
    kebab = Kebab(load(environ={}, flags=desk.flags), config_path=desk.config)
    with kebab, pytest.raises(NotIndexed) as caught:
        READS[name](kebab)

    assert (caught.value.expected, caught.value.found) == newer


def test_a_cancelled_run_is_passed_on(lab, opened):
    lab.write("a.md", "the cat\n")
    cancel = Cancel()
    cancel.request()
    with opened() as kebab:
        report = kebab.ingest(IngestOptions(paths=(str(lab.notes),)), cancel=cancel)

    assert report.cancelled


def test_what_does_not_exist_is_an_answer(filled, opened):
    with opened() as kebab:
        replies = [
            kebab.inspect_doc("no"),
            kebab.remove(["no"]),
            kebab.fetch_doc(FetchOptions(name="no")),
        ]

    assert all(isinstance(reply, NotFound) for reply in replies)
