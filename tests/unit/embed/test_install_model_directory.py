import pytest

from kebab.embed import install, registry
from kebab.embed.registry import MINILM
from tests.fakes import tiny_model


@pytest.fixture
def directory(tmp_path):
    return tiny_model.install_model(MINILM, tmp_path)


@pytest.mark.parametrize("name", [*registry.FILES, registry.MANIFEST_FILE])
def test_without_one_file_nothing_is_installed(directory, name):
    (directory / name).unlink()

    assert registry.find_installed(MINILM, directory.parent) is None
    assert registry.verify_files(directory)


def test_a_changed_byte_is_seen_by_verify_alone(directory):
    path = directory / registry.MODEL_FILE
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)

    assert registry.find_installed(MINILM, directory.parent) == directory
    assert registry.verify_files(directory) == ["changed: model.onnx"]


def test_publishing_replaces_a_damaged_directory(tmp_path):
    there = tiny_model.install_model(MINILM, tmp_path / "models")
    (there / registry.MODEL_FILE).write_bytes(b"damaged")
    fresh = tiny_model.install_model(MINILM, tmp_path / "fresh")

    install.publish_directory(fresh, MINILM, tmp_path / "models")

    assert registry.verify_files(there) == []
