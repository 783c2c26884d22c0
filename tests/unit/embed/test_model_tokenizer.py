import pytest

from kebab.embed import install
from kebab.embed.model_tokenizer import ModelTokenizer
from kebab.embed.registry import E5_SMALL, MINILM
from kebab.errors.catalog import EmbeddingUnavailable
from tests.fakes import tiny_model

CLS, SEP = tiny_model.WORDS.index("[CLS]"), tiny_model.WORDS.index("[SEP]")
CAT = tiny_model.WORDS.index("cat")


@pytest.fixture(params=[MINILM, E5_SMALL], ids=lambda model: model.key)
def model(request):
    return request.param


@pytest.fixture
def tokens(model, tmp_path):
    return ModelTokenizer(tiny_model.install_model(model, tmp_path), model)


def test_the_fixed_padding_of_the_file_is_not_obeyed(tokens):
    assert tokens.split_windows(["cat"], "") == [[[CLS, CAT, SEP]]]


def test_many_texts_keep_their_order(tokens):
    texts = ["cat " * (number % 5) for number in range(600)]

    assert tokens.count_tokens(texts) == [number % 5 for number in range(600)]


def test_a_text_of_the_window_is_one_sequence(tokens, model):
    (windows,) = tokens.split_windows(["cat " * model.window], model.passage_prefix)

    assert len(windows) == 1


def test_a_longer_text_is_cut_into_windows_that_hold_all_of_it(tokens, model):
    size = model.positions * 2 + 3
    (windows,) = tokens.split_windows(["cat " * size], model.passage_prefix)

    assert sum(window.count(CAT) for window in windows) == size
    assert all(window[0] == CLS and window[-1] == SEP for window in windows)
    assert max(map(len, windows)) <= model.positions


def test_every_window_carries_the_prefix(tmp_path):
    tokens = ModelTokenizer(tiny_model.install_model(E5_SMALL, tmp_path), E5_SMALL)
    (windows,) = tokens.split_windows(["cat " * 1200], E5_SMALL.passage_prefix)

    start = [tiny_model.WORDS.index(word) for word in ("[CLS]", "passage", ":")]
    assert [window[:3] for window in windows] == [start] * 3


def test_a_damaged_tokenizer_is_a_signal(model, tmp_path):
    directory = tiny_model.install_model(model, tmp_path)
    path = directory / install.TOKENIZER_FILE
    path.write_text(path.read_text().replace("cat", "cut"))

    with pytest.raises(EmbeddingUnavailable, match=r"tokenizer\.json is missing or damaged"):
        ModelTokenizer(directory, model).count_tokens(["cat"])


def test_a_missing_directory_is_a_signal(model, tmp_path):
    with pytest.raises(EmbeddingUnavailable):
        ModelTokenizer(tmp_path / "nowhere", model).count_tokens(["cat"])
