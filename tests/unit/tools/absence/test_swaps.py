import re

import pytest

from tools.absence.swaps import Question, make_swaps

NOTES = "Ada Lovelace met Babbage in London in 1833. Traefik is a proxy. 42 guests came."
QUESTIONS = [
    Question("answerable", "When did Ada Lovelace meet Babbage?", "ada.md"),
    Question("answerable", "What happened in 1833 with the 42 guests?", "ada.md"),
    Question("answerable", "Where does Grace Hopper work in 1952?", "hopper.md"),
    Question("answerable", "how do i restore a backup", "backup.md"),
    Question("answerable", "クラウドのバックアップはいつですか", "cloud.md"),
]


@pytest.fixture(scope="module")
def swaps():
    return make_swaps(QUESTIONS, NOTES)


def test_a_swap_replaces_one_name_or_number_by_one_that_does_not_occur(swaps):
    for one in swaps:
        assert one.replaced in one.text
        if one.kind != "elsewhere":
            assert not re.search(rf"(?<!\d){re.escape(one.replaced.lower())}(?!\d)", NOTES.lower())
        assert one.text not in {other.text for other in QUESTIONS}


def test_each_question_with_a_name_gives_a_name_a_product_and_one_from_elsewhere(swaps):
    kinds = [one.kind for one in swaps if one.document == "hopper.md"]

    assert kinds == ["name", "product", "elsewhere", "number"]


def test_a_name_from_elsewhere_belongs_to_another_document(swaps):
    assert {one.replaced for one in swaps if one.kind == "elsewhere"} <= {
        "Ada Lovelace",
        "Babbage",
        "Grace Hopper",
        "クラウド",
        "バックアップ",
    }
    assert all(
        one.replaced != "Grace Hopper"
        for one in swaps
        if one.kind == "elsewhere" and one.document == "hopper.md"
    )


def test_a_number_keeps_its_length_and_a_product_is_in_lower_case(swaps):
    assert all(len(one.replaced) in {2, 4} for one in swaps if one.kind == "number")
    products = [one.replaced for one in swaps if one.kind == "product"]
    assert products
    assert all(name.islower() and name != "traefik" for name in products)


def test_a_question_without_names_and_numbers_gives_nothing(swaps):
    assert "backup.md" not in {one.document for one in swaps}


def test_katakana_is_replaced_by_katakana(swaps):
    replaced = [one.replaced for one in swaps if one.document == "cloud.md" and one.kind == "name"]
    assert replaced
    assert all(re.fullmatch("[ァ-ー]+", name) for name in replaced)


def test_the_same_seed_gives_the_same_swaps(swaps):
    assert make_swaps(QUESTIONS, NOTES) == swaps
    assert make_swaps(QUESTIONS, NOTES, seed=8) != swaps
