import pytest

from kebab.embed import install
from kebab.embed.registry import MINILM
from tests.fakes import tiny_model


@pytest.fixture
def directory(tmp_path):
    return tiny_model.install_model(MINILM, tmp_path)


@pytest.mark.parametrize("name", [*install.FILES, install.MANIFEST_FILE])
def test_without_one_file_nothing_is_installed(directory, name):
    (directory / name).unlink()

    assert install.find_installed(MINILM, directory.parent) is None
    assert install.verify_files(directory)


def test_a_changed_byte_is_seen_by_verify_alone(directory):
    path = directory / install.MODEL_FILE
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)

    assert install.find_installed(MINILM, directory.parent) == directory
    assert install.verify_files(directory) == ["changed: model.onnx"]


@pytest.mark.parametrize("text", ["", '{"files": {"a": {"x": 1}}}'])
def test_a_broken_manifest_is_no_manifest(directory, text):
    (directory / install.MANIFEST_FILE).write_text(text)

    assert install.read_manifest(directory) is None
    assert install.verify_files(directory) == ["no readable manifest.json"]


def test_publishing_leaves_a_whole_directory_alone(tmp_path):
    there = tiny_model.install_model(MINILM, tmp_path / "models")
    before = install.read_manifest(there)
    late = tiny_model.install_model(MINILM, tmp_path / "late", seed=2)

    install.publish_directory(late, MINILM, tmp_path / "models")

    assert install.read_manifest(there) == before


def test_publishing_replaces_a_damaged_directory(tmp_path):
    there = tiny_model.install_model(MINILM, tmp_path / "models")
    (there / install.MODEL_FILE).write_bytes(b"damaged")
    fresh = tiny_model.install_model(MINILM, tmp_path / "fresh")

    install.publish_directory(fresh, MINILM, tmp_path / "models")

    assert install.verify_files(there) == []
