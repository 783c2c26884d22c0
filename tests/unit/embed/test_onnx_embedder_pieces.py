import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from kebab.embed.convert import parse_e5s1, write_piece_file
from kebab.embed.onnx_embedder import PieceFile
from tests.fakes.e5s1 import E5S1Contents

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
    write_piece_file(save(tokenizer, folder), tokenizer, target)
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
    return parse_e5s1(E5S1Contents().to_bytes()).tokenizer


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


@given(
    st.dictionaries(st.text(LETTERS, min_size=1, max_size=5), SCORES, max_size=30),
    st.lists(st.text("abc \u0301🐈x"), max_size=4),
)
def test_any_vocabulary_gives_the_tokens_of_the_library(tmp_path_factory, scores, texts):
    special = {"<s>": 0.0, "<pad>": 0.0, "</s>": 0.0, "<unk>": 0.0}
    tokenizer = parse_e5s1(E5S1Contents(pieces=special | scores).to_bytes()).tokenizer

    assert_equal(open_pieces(tokenizer, tmp_path_factory.mktemp("any")), tokenizer, texts)


@pytest.mark.parametrize("normalized", [False, True])
def test_a_text_with_an_added_token_is_left_to_the_library(tokenizer, tmp_path, normalized):
    added = {"id": 2, "content": "the Ａ", "special": True, "normalized": normalized}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    path = change(save(tokenizer, tmp_path), lambda raw: raw["added_tokens"].append(added | flags))
    target = tmp_path / "pieces.db"
    write_piece_file(path, Tokenizer.from_file(str(path)), target)

    assert PieceFile(target).encode(["of the Ａ"]) is None
    assert_equal(PieceFile(target), Tokenizer.from_file(str(path)), ["the cat", "the", "A"])


def test_a_precompiled_normaliser_and_a_sequence_of_splitters_are_kept(tmp_path):
    other = parse_e5s1(E5S1Contents().to_bytes()).tokenizer
    without_rules = struct.pack("<I", 4096) + bytes(4096)
    other.normalizer = normalizers.Precompiled(without_rules)
    other.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )

    assert_equal(open_pieces(other, tmp_path), other, ["the\tcat\n\n sleeps", "Ａ 한국 🐈", ""])
