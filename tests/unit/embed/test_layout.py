import json

import pytest

from kebab.embed import layout
from kebab.embed.models import E5_SMALL, MINILM
from tests.fakes import tiny_model


@pytest.fixture
def directory(tmp_path):
    return tiny_model.install(MINILM, tmp_path)


def test_a_whole_directory_is_installed(directory):
    assert layout.installed(MINILM, directory.parent) == directory
    assert layout.verify(directory) == []


def test_another_model_is_not_installed(directory):
    assert layout.installed(E5_SMALL, directory.parent) is None


def test_a_directory_under_another_models_name_is_not_whole(directory):
    assert not layout.whole(E5_SMALL, directory)


@pytest.mark.parametrize("name", [*layout.FILES, layout.MANIFEST_FILE])
def test_without_one_file_nothing_is_installed(directory, name):
    (directory / name).unlink()

    assert layout.installed(MINILM, directory.parent) is None
    assert layout.verify(directory)


def test_a_cut_file_is_not_installed(directory):
    path = directory / layout.MODEL_FILE
    path.write_bytes(path.read_bytes()[:-1])

    assert layout.installed(MINILM, directory.parent) is None


def test_a_changed_byte_is_seen_by_verify_alone(directory):
    path = directory / layout.MODEL_FILE
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)

    assert layout.installed(MINILM, directory.parent) == directory
    assert layout.verify(directory) == ["changed: model.onnx"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": {}}', '{"files": {"a": {"x": 1}}}'])
def test_a_broken_manifest_is_no_manifest(directory, text):
    (directory / layout.MANIFEST_FILE).write_text(text)

    assert layout.read_manifest(directory) is None
    assert layout.verify(directory) == ["no readable manifest.json"]


def test_a_manifest_from_before_anything_was_measured_is_read(directory):
    rewrite(directory, lambda raw: raw.pop("texts_per_second"))

    manifest = layout.read_manifest(directory)

    assert manifest is not None
    assert (manifest.precision, manifest.texts_per_second) == ("fp32", {})
    assert layout.installed(MINILM, directory.parent) == directory


def test_what_a_later_release_adds_to_a_manifest_is_passed_over(directory):
    before = layout.read_manifest(directory)
    rewrite(directory, lambda raw: raw.update(later=1))

    assert layout.read_manifest(directory) == before


def rewrite(directory, change):
    """Change the JSON of a manifest in place."""
    path = directory / layout.MANIFEST_FILE
    raw = json.loads(path.read_text())
    change(raw)
    path.write_text(json.dumps(raw))


def test_the_manifest_is_plain_json(directory):
    raw = json.loads((directory / layout.MANIFEST_FILE).read_text())

    assert raw["embedding_version"] == MINILM.version
    assert set(raw["files"]) == set(layout.FILES)


def test_publishing_moves_the_directory_into_place(directory, tmp_path):
    models_dir = tmp_path / "models"
    models_dir.mkdir()

    target = layout.publish(directory, MINILM, models_dir)

    assert layout.installed(MINILM, models_dir) == target
    assert not directory.exists()


def test_publishing_leaves_a_whole_directory_alone(tmp_path):
    there = tiny_model.install(MINILM, tmp_path / "models")
    before = layout.read_manifest(there)
    late = tiny_model.install(MINILM, tmp_path / "late", seed=2)

    layout.publish(late, MINILM, tmp_path / "models")

    assert layout.read_manifest(there) == before


def test_publishing_replaces_a_damaged_directory(tmp_path):
    there = tiny_model.install(MINILM, tmp_path / "models")
    (there / layout.MODEL_FILE).write_bytes(b"damaged")
    fresh = tiny_model.install(MINILM, tmp_path / "fresh")

    layout.publish(fresh, MINILM, tmp_path / "models")

    assert layout.verify(there) == []
