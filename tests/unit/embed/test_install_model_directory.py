import os

import pytest

from kebab.embed import install
from kebab.embed.install import SPEED_TEXTS, choose_precision, measure_speed
from kebab.embed.registry import MINILM
from tests.fakes import tiny_model
from tests.fakes.embedder import HashingEmbedder


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


def test_the_bytes_of_a_model_are_compared_only_after_a_change(tmp_path):
    directory = tiny_model.install_model(MINILM, tmp_path)
    path, manifest = directory / "model.onnx", directory / "manifest.json"
    raw = path.read_bytes()

    def write(data, mtime):
        path.write_bytes(data)
        os.utime(path, (mtime, mtime))

    installed = manifest.stat().st_mtime
    write(raw[:-1] + bytes([raw[-1] ^ 1]), installed - 1)
    assert install.find_intact(MINILM, tmp_path) == directory
    assert install.find_intact(MINILM, tmp_path, verify=True) is None
    os.utime(path, (installed + 9, installed + 9))
    assert install.find_intact(MINILM, tmp_path) is None
    write(raw, installed - 9)
    assert install.find_intact(MINILM, tmp_path) == directory


def test_a_model_without_a_file_is_not_intact(tmp_path):
    directory = tiny_model.install_model(MINILM, tmp_path)
    (directory / "tokenizer.json").unlink()

    assert not install.is_unchanged(directory)
    assert install.find_intact(MINILM, tmp_path) is None


@pytest.mark.parametrize(
    ("rates", "kept"),
    [
        ({"int8": 100.0, "fp32": 40.0}, "int8"),
        ({"int8": 100.0, "fp32": 100.0}, "int8"),
        ({"int8": 100.0, "fp32": 124.9}, "int8"),
        ({"int8": 100.0, "fp32": 125.0}, "fp32"),
        ({"int8": 100.0, "fp32": 300.0}, "fp32"),
        ({"fp32": 300.0}, "int8"),
        ({}, "int8"),
    ],
)
def test_full_precision_must_be_clearly_faster(rates, kept):
    assert choose_precision(rates) == kept


class Listening(HashingEmbedder):
    """Writes down who was asked for what."""

    def __init__(self, name, asked):
        super().__init__()
        self.name = name
        self.asked = asked

    def prepare(self):
        """Do nothing: nothing has to be loaded."""

    def embed_query(self, text):
        self.asked.append((self.name, text))
        return super().embed_query(text)


def test_embedders_take_turns_on_the_same_texts_after_warming_up():
    asked: list[tuple[str, str]] = []

    measure_speed({name: Listening(name, asked) for name in ("int8", "fp32")})

    warm, turns = asked[:2], asked[2:]
    assert warm == [("int8", SPEED_TEXTS[0]), ("fp32", SPEED_TEXTS[0])]
    each = [[(name, text) for text in SPEED_TEXTS] for name in ("int8", "fp32")]
    once = [*each[0], *each[1]]
    assert turns == once * (len(turns) // len(once))
    assert turns
