import msgspec

from kebab import __version__
from kebab.app import schema
from kebab.app.conversions import check_freshness
from kebab.app.library import remove_documents
from kebab.app.schema import describe_build
from kebab.embed.registry import E5_SMALL
from kebab.wire.health import SchemaRequest
from kebab.wire.json_schema import build_schemas
from kebab.wire.library import RmRequest
from kebab.wire.record import add_envelope, encode_json
from tests.contract.conftest import load_validators


def _told(desk):
    return describe_build(desk.context(), SchemaRequest())


def test_last_ingest_is_the_last_change(desk):
    desk.write("a.md", "the cat\n")
    desk.ingest()
    first = _told(desk)
    desk.ingest()
    again = _told(desk)
    remove_documents(desk.context(), RmRequest(names=["a.md"]))
    emptied = _told(desk)

    assert first.stats.last_ingest_at == again.stats.last_ingest_at
    assert first.models.corpus_revision == again.models.corpus_revision
    assert emptied.stats.last_ingest_at is None
    assert emptied.models.corpus_revision > first.models.corpus_revision


def test_versions_describe_the_index(lab):
    lab.write("a.md", "the cat\n")
    lab.ingest()
    models = _told(lab).models

    assert models.embedding_version == E5_SMALL.version
    assert models.index_version == "lance-flat-l2-384-v1"
    assert models.parser_version in models.active_parsers
    assert models.active_chunkers == [models.chunker_version]
    assert (
        describe_build(lab.context(index__chunk_tokens=64), SchemaRequest()).models.chunker_version
        != models.chunker_version
    )
    assert models.prompt_template_version == "rag-v1"


def test_every_schema_is_listed(desk):
    told = _told(desk)

    assert told.wire.schemas == sorted(build_schemas())
    assert told.kebab_version == __version__
    line = encode_json(add_envelope(told, command="schema", timestamp="now", exit_code=0))
    load_validators()["schema.v1"].validate(msgspec.json.decode(line))


def test_stale_documents_of_a_large_base_are_estimated_from_a_sample(desk, monkeypatch):
    for number in range(12):
        desk.write(f"{number:02}.md", f"the cat {number}\n")
    desk.ingest()
    for number in range(12):
        desk.write(f"{number:02}.md", "the cat was changed\n")
    seen: list[str] = []

    def check(file):
        seen.append(file.path)
        return check_freshness(file)

    monkeypatch.setattr(schema, "_SAMPLE", 4)
    monkeypatch.setattr(schema, "check_freshness", check)

    assert _told(desk).stats.stale_doc_count == 12
    assert len(seen) <= 4
