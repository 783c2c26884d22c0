import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from kebab.embed import install
from kebab.embed.model_tokenizer import ModelTokenizer, PieceFile, write_piece_file
from kebab.embed.onnx_bert import UnigramVocabulary, build_tokenizer, parse_e5s1
from kebab.embed.registry import E5_SMALL, MINILM
from kebab.errors.catalog import EmbeddingUnavailable
from tests.fakes import tiny_model
from tests.fakes.e5s1 import PIECES, REPLACEMENTS, E5S1Contents

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


VOCABULARY = parse_e5s1(E5S1Contents().to_bytes()).vocabulary
TEXTS = [
    "",
    "   ",
    "the cats sleep",
    "the\tcat  sleeps\u200b.",
    "\x00the\x00",
    "\u2581the \u2581\u2581cat",
    "\u0301e\u0301 Ａ \ufb01 \ufdfa \u2460",
    "👩‍👩‍👧‍👦 the 🇩🇪 cat🏳️‍🌈s",
    "한국 \u1112\u1161\u11ab 각",
    "thethethe" * 400,
    "<s> the </s><unk>",
    "the " + "?" * 50 + "cat ??s",
]


def save(tokenizer, folder):
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def open_pieces(tokenizer, folder):
    target = folder / "pieces.db"
    assert write_piece_file(save(tokenizer, folder), target)
    return PieceFile(target)


def change(path, edit):
    """Change the JSON of a tokenizer in place and return its path."""
    raw = json.loads(path.read_text())
    edit(raw)
    path.write_text(json.dumps(raw))
    return path


def assert_equal(pieces, tokenizer, texts):
    found = pieces.encode(texts)

    assert found is not None
    expected = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
    assert [one.ids for one in found] == [one.ids for one in expected]
    assert [one.offsets for one in found] == [one.offsets for one in expected]


@pytest.fixture(scope="module")
def tokenizer():
    return build_tokenizer(VOCABULARY)


@pytest.fixture(scope="module")
def pieces(tokenizer, tmp_path_factory):
    return open_pieces(tokenizer, tmp_path_factory.mktemp("pieces"))


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_has_the_tokens_and_spans_of_the_library(pieces, tokenizer, text):
    assert_equal(pieces, tokenizer, [text])


@given(st.lists(st.text(st.sampled_from("the catspig.:?한국é\u0301\u200b\ufb01Ａ🐈\t\x07▁"))))
def test_any_texts_have_the_tokens_and_spans_of_the_library(pieces, tokenizer, texts):
    assert_equal(pieces, tokenizer, texts)


LETTERS = "ab\u0301🐈▁"
SCORES = st.one_of(st.sampled_from([-1.0, -2.0, -3.0, -4.0]), st.floats(-30, 3, width=32))


@settings(max_examples=50)
@given(
    st.dictionaries(st.text(LETTERS, min_size=1, max_size=5), SCORES, max_size=30),
    st.lists(st.text("abc \u0301🐈x"), max_size=4),
)
def test_any_vocabulary_gives_the_tokens_of_the_library(tmp_path_factory, scores, texts):
    special = [("<s>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    tokenizer = build_tokenizer(
        UnigramVocabulary(
            pieces=[*special, *scores.items()],
            start="<s>",
            end="</s>",
            unknown="<unk>",
            replacements=REPLACEMENTS,
        )
    )

    assert_equal(open_pieces(tokenizer, tmp_path_factory.mktemp("any")), tokenizer, texts)


def test_the_work_grows_with_the_text_and_not_with_its_square(pieces):
    pieces.encode(["the"])
    longest = max(map(len, PIECES))

    for size in (1_000, 4_000):
        text = "".join(chr(0x4E00 + number) for number in range(size))
        assert len(pieces._list_substrings([text])) <= longest * (size + 1)


@pytest.mark.parametrize("normalized", [False, True])
def test_a_text_with_an_added_token_is_left_to_the_library(tokenizer, tmp_path, normalized):
    added = {"id": 2, "content": "the Ａ", "special": True, "normalized": normalized}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    path = change(save(tokenizer, tmp_path), lambda raw: raw["added_tokens"].append(added | flags))
    target = tmp_path / "pieces.db"
    assert write_piece_file(path, target)

    assert PieceFile(target).encode(["of the Ａ"]) is None
    assert_equal(PieceFile(target), Tokenizer.from_file(str(path)), ["the cat", "the", "A"])


def test_a_precompiled_normaliser_and_a_sequence_of_splitters_are_kept(tmp_path):
    other = build_tokenizer(VOCABULARY)
    without_rules = struct.pack("<I", 4096) + bytes(4096)
    other.normalizer = normalizers.Precompiled(without_rules)
    other.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )

    assert_equal(open_pieces(other, tmp_path), other, ["the\tcat\n\n sleeps", "Ａ 한국 🐈", ""])


def repeat_a_piece(raw):
    raw["model"]["vocab"].append(raw["model"]["vocab"][-1])


UNSUPPORTED = {
    "without an unknown piece": lambda raw: raw["model"].update(unk_id=None),
    "with bytes": lambda raw: raw["model"].update(byte_fallback=True),
    "with a piece twice": repeat_a_piece,
}


@pytest.mark.parametrize("edit", UNSUPPORTED.values(), ids=UNSUPPORTED)
def test_another_unigram_vocabulary_has_no_file(tokenizer, tmp_path, edit):
    path = change(save(tokenizer, tmp_path), edit)

    assert not write_piece_file(path, tmp_path / "pieces.db")
    assert list(tmp_path.iterdir()) == [path]


def test_another_kind_of_vocabulary_has_no_file(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(tiny_model.build_tokenizer())

    assert not write_piece_file(path, tmp_path / "pieces.db")
    assert list(tmp_path.iterdir()) == [path]


def test_a_database_that_cannot_be_written_is_no_file(tokenizer, tmp_path):
    assert not write_piece_file(save(tokenizer, tmp_path), tmp_path / "nowhere" / "pieces.db")
