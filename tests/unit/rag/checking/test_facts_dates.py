import pytest

from kebab.rag.checking.facts import Date, find_dates, is_same_date


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
