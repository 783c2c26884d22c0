"""What doctor looks at, asked of real stores one question at a time."""

import pytest

from kebab.app.doctor import build_inputs
from kebab.embed.registry import E5_SMALL
from kebab.errors.catalog import StoreCorrupt


@pytest.fixture
def full(lab):
    for number in range(6):
        lab.write(f"n{number}.md", f"---\ntitle: N{number}\n---\n\nthe cat number {number}\n")
    lab.ingest()
    return lab


def _inputs(desk, **flags):
    return build_inputs(desk.context(**flags))


def test_keys_are_read_from_the_table_and_not_from_derived_files(full):
    for path in (full.data / "lance").rglob("data/*.lance"):
        path.unlink()

    with pytest.raises(StoreCorrupt):
        _inputs(full).storage.list_vector_keys()


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


def test_only_inputs_that_read_a_damaged_database_fail(lab):
    lab.data.mkdir()
    (lab.data / "kebab.sqlite").write_bytes(b"no database" * 1_000)
    asked = _inputs(lab)

    with pytest.raises(StoreCorrupt):
        asked.storage.find_schema()
    assert asked.models.read_weights() is not None


@pytest.mark.parametrize(
    ("provider", "installed", "start"),
    [
        ("ollama", True, "ollama serve"),
        ("ollama", False, "export KEBAB_MODELS_LLM_PROVIDER=extractive"),
        ("extractive", True, "export KEBAB_MODELS_LLM_ENDPOINT=URL"),
    ],
)
def test_the_start_command_names_a_program_of_this_machine(
    desk, provider, installed, start, monkeypatch, tmp_path
):
    (tmp_path / "ollama").touch(0o755 if installed else 0o600)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert _inputs(desk, models__llm__provider=provider).models.start_command == start
