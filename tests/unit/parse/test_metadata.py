import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.parse.metadata import list_unique, read_language, split_authors, split_keywords


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ana Li and Bo Ek", ["Ana Li", "Bo Ek"]),
        ("Ana Li, Bo Ek, and Cy Fox", ["Ana Li", "Bo Ek", "Cy Fox"]),
        ("Ana Li & Bo Ek", ["Ana Li", "Bo Ek"]),
        ("Ana Li <ana@x.org>; Bo Ek", ["Ana Li", "Bo Ek"]),
        ("Ana Li\nBo Ek", ["Ana Li", "Bo Ek"]),
        ("Li, Ana; Ek, Bo", ["Li, Ana", "Ek, Bo"]),
        ("김하늘, 이수진", ["김하늘", "이수진"]),
        ("R&D", ["R&D"]),
        ("", []),
    ],
)
def test_names_are_separated(text, names):
    assert split_authors(text) == names


def test_keywords_are_separated_by_the_commas_of_every_script():
    assert split_keywords("oil, sea  lamp;등대、灯台,") == ["oil", "sea lamp", "등대", "灯台"]


@pytest.mark.parametrize(
    ("tag", "language"),
    [("en", "en"), ("ko_KR", "ko"), ("zh-Hant-TW", "zh"), ("english", None), (3, None), ("", None)],
)
def test_a_language_is_its_primary_subtag(tag, language):
    assert read_language(tag) == language


def test_values_are_kept_once_and_bounded():
    assert list_unique(["a", "", "b", "a"]) == ("a", "b")
    assert len(list_unique(map(str, range(999)))) == 256


@given(st.text(max_size=200))
def test_no_name_is_empty_or_has_white_space_around(text):
    assert [name for name in split_authors(text) if name != name.strip() or not name] == []
