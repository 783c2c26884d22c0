"""The state machine has a knowledge base of its own, and continues ingests that it killed."""

import pytest

from kebab.wire.ingest import IngestRequest
from kebab.wire.library import ListRequest, RmRequest
from tools.state_machine.model import Key
from tools.state_machine.system import System


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return tmp_path_factory.mktemp("models") / "tiny"


@pytest.fixture
def system(tmp_path, models):
    made = System(tmp_path, models)
    (made.notes / "work").mkdir()
    (made.notes / "work" / "a.md").write_text("# One\n\none1\n", encoding="utf-8")
    yield made
    made.end()


def test_errors_are_codes(system):
    assert system.find_error(ListRequest()) == "not_indexed"
    assert system.find_error(RmRequest(names=["x"]), read_only=True) == "read_only"


def test_a_kept_knowledge_base_sees_what_others_write(system):
    system.run(IngestRequest(paths=[str(system.notes / "work")]))
    before = system.run_kept(ListRequest()).total
    (system.notes / "work" / "b.md").write_text("two2", encoding="utf-8")
    system.change_settings(**{"index.chunk_tokens": 40})
    system.run(IngestRequest())

    assert (before, system.run_kept(ListRequest()).total) == (1, 2)


def test_passages_are_read_by_the_keys_of_the_model(system):
    report = system.run(IngestRequest(paths=[str(system.notes / "work")]))

    found = system.read_passages()
    assert [*found] == [Key("work", "work/a.md")]
    assert found[Key("work", "work/a.md")][0] == report.items[0].doc_id
    assert "one1" in found[Key("work", "work/a.md")][1]


def test_an_ingest_dies_at_the_step_and_the_next_one_ends(system):
    paths = [str(system.notes / "work")]

    assert system.kill(paths, 4)
    system.run(IngestRequest(paths=paths))
    assert system.run(ListRequest()).total == 1
