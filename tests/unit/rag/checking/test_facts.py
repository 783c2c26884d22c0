import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.checking.facts import (
    Date,
    FactIndex,
    NameIndex,
    extract_facts,
    find_dates,
    find_names,
    find_quotations,
    is_same_date,
    is_verbatim,
)
from kebab.text.normalize import fold_text, normalize_punctuation
from kebab.text.tokenizer import tokenize

PASSAGE = (
    'The pump "Nordwind" was installed on 12 March 2024 in Berlin. It cost $3 million. '
    "Tests ran from 6 to 25 October, in 2023. Run `restic check` after it."
)


def find_missing(claim, passage=PASSAGE):
    return list(FactIndex(passage, frozenset(tokenize(passage))).find_missing(extract_facts(claim)))


@pytest.mark.parametrize(
    "claim",
    [
        "It was installed on 2024-03-12.",
        "It was installed in March 2024.",
        "It was installed in 2024.",
        "Tests began on 6 October 2023.",
        "It cost 3,000,000 dollars.",
        'The pump is called "nordwind".',
        "Use `restic check`.",
        "It is a pump.",
    ],
)
def test_facts_of_the_passage_are_not_missing(claim):
    assert find_missing(claim) == []


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("It was installed on 13 March 2024 there.", ["13 March 2024"]),
        ("Tests began on 7 October 2023.", ["7 October 2023"]),
        ("Tests ended on 25 October 2022.", ["25 October 2022"]),
        ("It was installed in May 2024.", ["May 2024"]),
        ("It took 45 minutes and 7 people.", ["45 minutes", "7 people"]),
        ("It stands in Munich.", ["Munich"]),
        ('It is called "Südwind".', ['"Südwind"']),
        ("Use `restic prune`.", ["prune"]),
        ("See log-2025-03-12.md.", ["2025-03-12", "log-2025-03-12.md"]),
    ],
)
def test_missing_facts_are_worded_as_in_the_claim(claim, expected):
    assert find_missing(claim) == expected


def test_facts_are_counted_and_removed_from_the_words():
    found = extract_facts("The pump cost 30 euros on 12 March 2024 in Berlin.")

    assert found.count == 3
    assert found.words.split() == ["The", "pump", "cost", "on", "in", "Berlin."]


@given(st.text(max_size=80))
def test_a_text_contains_its_own_facts(text):
    index = FactIndex(text, frozenset(tokenize(text)))

    assert all(
        one.startswith('"') or one not in text for one in index.find_missing(extract_facts(text))
    )


def list_dates(text):
    return [[(one.year, one.month, one.day) for one in read] for read in find_dates(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 2024-03-12.", [[(2024, 3, 12)]]),
        ("12 March 2024", [[(2024, 3, 12)]]),
        ("12th of March, 2024", [[(2024, 3, 12)]]),
        ("March 12, 2024", [[(2024, 3, 12)]]),
        ("Mar. 12", [[(None, 3, 12)]]),
        ("March 2024", [[(2024, 3, None)]]),
        ("12. März 2024", [[(2024, 3, 12)]]),
        ("12 de marzo de 2024", [[(2024, 3, 12)]]),
        ("2024년 3월 12일", [[(2024, 3, 12)]]),
        ("2024年3月12日", [[(2024, 3, 12)]]),
        ("3月12日", [[(None, 3, 12)]]),
        ("03/12/2024", [[(2024, 12, 3), (2024, 3, 12)]]),
        ("13.12.2024", [[(2024, 12, 13)]]),
        ("May 1 and June 2", [[(None, 5, 1)], [(None, 6, 2)]]),
        ("2024-99-99, may 1, in 2024, 1.2.3", []),
        ("Marching 12", []),
    ],
)
def test_dates_are_parsed_in_many_notations(text, expected):
    assert list_dates(text) == expected


@pytest.mark.parametrize(
    ("claimed", "expected"),
    [
        ((2024, 3, 12), True),
        ((2024, 3, None), True),
        ((None, 3, 12), True),
        ((2023, 3, 12), False),
        ((2024, 4, 12), False),
        ((2024, 3, 13), False),
    ],
)
def test_a_stated_date_has_all_parts_of_the_claimed_one(claimed, expected):
    assert is_same_date(Date(0, 0, *claimed), Date(0, 0, 2024, 3, 12)) is expected


def test_dates_without_anything_between_them_are_all_found():
    assert list_dates("2024年3月12日2025年4月13日") == [[(2024, 3, 12)], [(2025, 4, 13)]]


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He said "go now", then left.', ["go now"]),
        ("He said “go now.”", ["go now"]),
        ("彼は「行け」と言った", ["行け"]),
        ("«va vite» „so“", ["so", "va vite"]),
        ('"first […] last part"', ["first", "last part"]),
        ('A 5" pipe and a 6" pipe', []),
        ('"..." and "!"', []),
        ("it's and that's", []),
    ],
)
def test_text_between_quotation_marks_is_a_quotation(text, expected):
    assert sorted(find_quotations(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("quotation", "expected"),
    [("Go  NOW", True), ("go now,", True), ("go never", False), ("it’s late", True)],
)
def test_white_space_case_and_end_marks_do_not_matter(quotation, expected):
    assert is_verbatim(quotation, fold_text("You should go\nnow, it's late.")) is expected
