"""What doctor looks at, asked of real stores one question at a time."""

import pytest

from kebab.app.doctor import build_inputs
from kebab.embed.registry import E5_SMALL, MINILM
from kebab.errors.catalog import ModelUnreachable, StoreCorrupt
from kebab.store.sqlite.connection import get_expected_schema_version


@pytest.fixture
def full(lab):
    for number in range(6):
        lab.write(f"n{number}.md", f"---\ntitle: N{number}\n---\n\nthe cat number {number}\n")
    lab.ingest()
    return lab


def _inputs(desk, **flags):
    return build_inputs(desk.context(**flags))


def test_paths_come_from_the_settings(desk):
    machine = _inputs(desk).machine

    assert machine.folders["data"] == machine.data == desk.data
    assert machine.folders["models"] == desk.folder / "models"
    assert machine.log.parent == machine.folders["state"]


def test_an_invalid_endpoint_in_the_settings_is_a_warning(desk):
    assert _inputs(desk).machine.read_settings().warnings == ()
    odd = _inputs(desk, models__llm__endpoint="localhost:x")

    assert odd.machine.read_settings().path == desk.config
    assert odd.machine.read_settings().warnings


def test_the_running_writer_is_reported(full):
    asked = _inputs(full).machine
    assert asked.find_writer() is None
    with full.context().open_writer("test"):
        assert asked.find_writer() is not None


@pytest.mark.parametrize("fixture", ["desk", "full", "newer"])
def test_the_schema_version_of_the_database_is_read(desk, fixture, request):
    request.getfixturevalue(fixture)
    found = _inputs(desk).storage.find_schema()

    assert found == {"desk": None, "full": get_expected_schema_version(), "newer": 999}[fixture]
    assert _inputs(desk).storage.schema == get_expected_schema_version()


def test_inputs_are_read_from_the_stores(full):
    storage = _inputs(full).storage

    assert storage.find_damage() == []
    assert len(storage.list_vector_keys()) == len(set(storage.list_expected_keys())) == 6


def test_keys_are_read_from_the_table_and_not_from_derived_files(full):
    for path in (full.data / "lance").rglob("data/*.lance"):
        path.unlink()

    with pytest.raises(StoreCorrupt):
        _inputs(full).storage.list_vector_keys()


def test_the_words_of_an_index_are_those_of_its_passages(full):
    assert _inputs(full).storage.find_word_fault() is None


def test_an_empty_index_has_no_word_fault_and_no_vector(desk):
    desk.ingest()
    storage = _inputs(desk).storage

    assert storage.find_word_fault() is None
    assert list(storage.list_vector_keys()) == []


def test_pending_passages_are_counted(full):
    assert _inputs(full).documents.count_pending() == 0


def test_weights_are_those_of_the_stored_else_an_installed_model(full, desk):
    asked = _inputs(full)
    weights = asked.models.read_weights()
    assert weights is not None
    assert (weights.model, weights.faults) == (E5_SMALL.key, ())
    assert asked.models.measure_probe() is not None

    gone = _inputs(full, models_dir=str(desk.folder / "none")).models
    missing = gone.read_weights()
    assert missing is not None
    assert (missing.model, missing.folder) == (E5_SMALL.key, None)
    assert gone.measure_probe() is None


def test_without_weights_and_vectors_there_is_no_model(desk):
    asked = _inputs(desk).models

    assert asked.read_weights() is None
    assert asked.measure_probe() is None


def test_installed_weights_are_checked_before_the_first_ingest(lab):
    weights = _inputs(lab).models.read_weights()

    assert weights is not None
    assert weights.folder is not None


def test_only_inputs_that_read_a_damaged_database_fail(lab):
    lab.data.mkdir()
    (lab.data / "kebab.sqlite").write_bytes(b"no database" * 1_000)
    asked = _inputs(lab)

    with pytest.raises(StoreCorrupt):
        asked.storage.find_schema()
    assert asked.models.read_weights() is not None


def test_versions_come_from_settings_and_vectors(full, desk):
    assert _inputs(full).models.read_versions().configured is None
    versions = _inputs(full, models__embedding__model=MINILM.key).models.read_versions()

    assert (versions.configured, versions.stored) == (MINILM.version, E5_SMALL.version)


def test_the_model_server_of_the_settings_is_checked(desk):
    with pytest.raises(ModelUnreachable, match=r"127\.0\.0\.1:9 "):
        _inputs(desk).models.check_server()


@pytest.mark.parametrize(
    ("provider", "start"),
    [
        ("ollama", "ollama serve"),
        ("openai", "export KEBAB_MODELS_LLM_ENDPOINT=URL"),
        ("extractive", "export KEBAB_MODELS_LLM_ENDPOINT=URL"),
    ],
)
def test_the_start_command_depends_on_the_provider(desk, provider, start):
    assert _inputs(desk, models__llm__provider=provider).models.start_command == start
