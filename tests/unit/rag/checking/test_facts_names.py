import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.checking.facts import NameIndex, find_names
from kebab.text.normalize import normalize_punctuation
from kebab.text.tokenizer import tokenize


def list_names(text, **how):
    return sorted(one.text for one in find_names(normalize_punctuation(text), **how))


def contains_all(claim, passage):
    text = normalize_punctuation(passage)
    return all(
        map(
            NameIndex(text, frozenset(tokenize(text))).contains,
            find_names(normalize_punctuation(claim)),
        )
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The pump in Berlin was built by Anna Meyer.", ["Anna", "Berlin", "Meyer"]),
        ("Pumps are loud.", []),
        ("Anna Meyer left.", ["Anna", "Meyer"]),
        ("Istanbul was large.", ["Istanbul"]),
        ("Watt invented it.", ["Watt"]),
        ("Heating is loud.", []),
        ("However, the NATO met.", ["NATO"]),
        ("The pump: Installed late.", []),
        ("use snake_case, camelCase, GPT4, UTF-8", ["GPT4", "UTF-8", "camelCase", "snake_case"]),
        (
            "see notes/a.md, https://a.b/c?d=1. and --dry-run",
            ["--dry-run", "https://a.b/c?d=1", "notes/a.md"],
        ),
        ("mail me@a.org about /etc/restic/env", ["/etc/restic/env", "me@a.org"]),
        ("the 1970s and v1.2", []),
        ("펌프는 Berlin의 restic", ["Berlin", "restic"]),
        ("ポンプはベルリンにある。", ["ベルリン", "ポンプ"]),
        ("榎本武揚が来た。", ["榎本武揚"]),
        ("a CésarX b", ["CésarX"]),
    ],
)
def test_names_are_capitalised_words_acronyms_and_identifiers(text, expected):
    assert list_names(text) == expected


def test_german_nouns_are_not_names():
    assert list_names("Die Pumpe im Keller der NASA", nouns=True) == ["NASA"]


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("in Berlin", "Berlin's pumps"),
        ("by the German army", "an army of Germany"),
        ("the Italian", "from Italy"),
        ("by the EU", "the European Union said"),
        ("in the U.S.", "of the United States"),
        ("UTF-8", "utf8 text"),
        ("see a.md", "it is in notes/A.md"),
        ("use snake_case", "the snakeCase"),
        ("榎本武揚が来た", "榎本は来た"),
        ("ベルリンにある", "ベルリンの"),
    ],
)
def test_a_name_is_found_in_another_form(claim, passage):
    assert contains_all(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("in Berlin", "in Munich"),
        ("in Nigeria", "in Niger"),
        ("in Austria", "in Australia"),
        ("the Austrian", "in Australia"),
        ("with Maria", "with Mario"),
        ("see b.md", "see a.md"),
        ("UTF-16", "UTF-8"),
        ("https://a.b/d", "https://a.b/c"),
        ("ベルリンにある", "ミュンヘンにある"),
        ("榎本武揚が来た", "西郷隆盛は来た"),
        ("the EU", "the United Nations"),
    ],
)
def test_another_name_is_not_found(claim, passage):
    assert not contains_all(claim, passage)


@given(st.text(alphabet="AaBb .-/@: 가ア漢", max_size=60))
def test_a_text_contains_its_own_names(text):
    assert contains_all(text, text)


@pytest.mark.parametrize("unit", ["Aa ", "a.", "/a", "a@", "_a", "A of ", "http://", "a-", "A"])
def test_hostile_rows_are_parsed_completely(unit):
    assert contains_all(unit * 3_000, unit * 3_000)
