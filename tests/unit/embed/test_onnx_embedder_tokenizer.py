import pytest
from msgspec.structs import replace

from kebab.embed import registry
from kebab.embed.convert import parse_e5s1, write_piece_file
from kebab.embed.onnx_embedder import ModelTokenizer
from kebab.embed.registry import E5_SMALL, MINILM
from kebab.errors.catalog import EmbeddingUnavailable
from tests.fakes import tiny_model
from tests.fakes.e5s1 import E5S1Contents

CLS, SEP = tiny_model.WORDS.index("[CLS]"), tiny_model.WORDS.index("[SEP]")
CAT = tiny_model.WORDS.index("cat")


@pytest.fixture(params=[MINILM, E5_SMALL], ids=lambda model: model.key)
def model(request):
    return request.param


@pytest.fixture
def tokens(model, tmp_path):
    return ModelTokenizer(tiny_model.install_model(model, tmp_path), model)


def test_a_longer_text_is_cut_to_the_window(tokens, model):
    (found,) = tokens.encode(["cat " * 2 * model.positions], model.passage_prefix)

    assert len(found.ids) == model.positions
    assert (found.ids[0], found.ids[-1]) == (CLS, SEP)
    prefix = tokens.count_tokens([model.passage_prefix])[0]
    assert found.ids.count(CAT) == model.positions - 2 - prefix
    assert found.spans[1 + prefix] == (0, 3)


def test_a_missing_directory_is_a_signal(model, tmp_path):
    with pytest.raises(EmbeddingUnavailable):
        ModelTokenizer(tmp_path / "nowhere", model).count_tokens(["cat"])


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
    path = directory / registry.TOKENIZER_FILE
    tokenizer = parse_e5s1(E5S1Contents().to_bytes()).tokenizer
    tokenizer.save(str(path))
    names = [*registry.FILES]
    if with_pieces:
        write_piece_file(path, tokenizer, directory / registry.PIECES_FILE)
        names.append(registry.PIECES_FILE)
    manifest = registry.read_manifest(directory)
    assert manifest is not None
    facts = {name: registry.read_file_facts(directory / name) for name in names}
    registry.write_manifest(directory, replace(manifest, files=facts))
    return directory


def test_short_texts_are_cut_without_loading_the_vocabulary(directory, library):
    tokens = ModelTokenizer(directory, E5_SMALL)
    (directory / registry.TOKENIZER_FILE).unlink()

    assert tokens.encode(TEXTS, PREFIX) == library.encode(TEXTS, PREFIX)
    assert tokens.count_tokens(TEXTS) == library.count_tokens(TEXTS)


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_text("x")])
def test_a_lost_or_damaged_piece_file_is_replaced_by_the_library(directory, library, damage):
    opened, unopened = (ModelTokenizer(directory, E5_SMALL) for _ in range(2))
    assert opened.count_tokens(["the cat"]) == [2]
    damage(directory / registry.PIECES_FILE)

    for tokens in (opened, unopened):
        assert tokens.encode(TEXTS, PREFIX) == library.encode(TEXTS, PREFIX)


def test_a_listed_piece_file_belongs_to_the_directory(directory):
    path = directory / registry.PIECES_FILE
    data = path.read_bytes()
    assert registry.verify_files(directory) == []

    path.write_bytes(data[:-1] + b"?")
    assert registry.verify_files(directory) == ["changed: pieces.db"]
    path.unlink()
    assert registry.verify_files(directory) == ["missing: pieces.db"]
    assert registry.find_installed(E5_SMALL, directory.parent) is None
    manifest = registry.read_manifest(directory)
    assert manifest is not None
    registry.write_manifest(directory, replace(manifest, files={}))
    assert registry.find_installed(E5_SMALL, directory.parent) is None
