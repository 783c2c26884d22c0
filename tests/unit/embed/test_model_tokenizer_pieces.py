"""The tokenizer of a model whose directory has the pieces of a Unigram vocabulary."""

import pytest
from msgspec.structs import replace

from kebab.embed import install as model_directory
from kebab.embed import model_tokenizer
from kebab.embed.model_tokenizer import ModelTokenizer, write_piece_file
from kebab.embed.onnx_bert import build_tokenizer, parse_e5s1
from kebab.embed.registry import E5_SMALL
from kebab.errors.catalog import EmbeddingUnavailable
from tests.fakes import tiny_model
from tests.fakes.e5s1 import E5S1Contents

TEXTS = ["the cat sleeps", "", "한국 \ud800 🐈", "of bread " * 300]
PREFIX = E5_SMALL.query_prefix


@pytest.fixture
def directory(tmp_path):
    """A model directory with the pieces; `library` reads one without, of the same tokenizer."""
    return install(tmp_path / "with", with_pieces=True)


@pytest.fixture
def library(tmp_path):
    return ModelTokenizer(install(tmp_path / "without", with_pieces=False), E5_SMALL)


def install(models_dir, *, with_pieces):
    directory = tiny_model.install_model(E5_SMALL, models_dir)
    path = directory / model_directory.TOKENIZER_FILE
    build_tokenizer(parse_e5s1(E5S1Contents().to_bytes()).vocabulary).save(str(path))
    names = [*model_directory.FILES]
    if with_pieces:
        write_piece_file(path, directory / model_directory.PIECES_FILE)
        names.append(model_directory.PIECES_FILE)
    manifest = model_directory.read_manifest(directory)
    assert manifest is not None
    facts = {name: model_directory.read_file_facts(directory / name) for name in names}
    model_directory.write_manifest(directory, replace(manifest, files=facts))
    return directory


@pytest.fixture
def loads(monkeypatch):
    """The whole tokenizers that the library loads from the directory with the pieces."""
    found = []
    verify = ModelTokenizer._verify_file

    def record(self, name):
        path = verify(self, name)
        if path.name == model_directory.TOKENIZER_FILE and "with" in path.parts:
            found.append(path)
        return path

    monkeypatch.setattr(ModelTokenizer, "_verify_file", record)
    return found


def test_many_characters_load_the_vocabulary_once_for_all(directory, library, loads, monkeypatch):
    monkeypatch.setattr(model_tokenizer, "_PIECEWISE_CHARS", 8)
    tokens = ModelTokenizer(directory, E5_SMALL)
    parts = ["the cat", "cat", "the", ""]
    found, before = [], []
    for text in parts:
        found += tokens.split_windows([text], "")
        before.append(len(loads))

    assert before == [0, 1, 1, 1]
    assert found == library.split_windows(parts, "")


def test_a_lost_piece_file_is_replaced_by_the_library(directory, library, loads):
    tokens = ModelTokenizer(directory, E5_SMALL)
    assert tokens.count_tokens(["the cat"]) == [2]
    (directory / model_directory.PIECES_FILE).unlink()

    assert tokens.split_windows(TEXTS, PREFIX) == library.split_windows(TEXTS, PREFIX)
    assert len(loads) == 1


def test_a_damaged_piece_file_is_a_signal(directory):
    path = directory / model_directory.PIECES_FILE
    path.write_bytes(path.read_bytes().replace(b"\xe2\x96\x81cat", b"\xe2\x96\x81cut"))

    with pytest.raises(EmbeddingUnavailable, match=r"pieces\.db is missing or damaged"):
        ModelTokenizer(directory, E5_SMALL).count_tokens(["cat"])


def test_a_listed_piece_file_belongs_to_the_directory(directory):
    path = directory / model_directory.PIECES_FILE
    data = path.read_bytes()
    assert model_directory.find_intact(E5_SMALL, directory.parent, verify=True) == directory

    path.write_bytes(data[:-1] + b"?")
    assert model_directory.verify_files(directory) == ["changed: pieces.db"]
    assert model_directory.find_intact(E5_SMALL, directory.parent) is None
    path.unlink()
    assert model_directory.verify_files(directory) == ["missing: pieces.db"]
    assert model_directory.find_installed(E5_SMALL, directory.parent) is None
    assert not model_directory.is_unchanged(directory)
