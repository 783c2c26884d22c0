from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.text.dates import (
    choose_date,
    find_date,
    find_date_in_path,
    find_written_dates,
    parse_date,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-01", "2024-03-01"),
        ("2024-3-1", "2024-03-01"),
        ("2024/03/01", "2024-03-01"),
        ("2024. 3. 1.", "2024-03-01"),
        ("20240301", "2024-03-01"),
        ("202403011030", "2024-03-01"),
        ("20240301T103000Z", "2024-03-01T10:30:00Z"),
        ("March 1, 2024", "2024-03-01"),
        ("Mar 1st, 2024", "2024-03-01"),
        ("[[Mar 1st, 2024]]", "2024-03-01"),
        ("1 March 2024", "2024-03-01"),
        ("1st of March 2024", "2024-03-01"),
        ("01-Mar-2024", "2024-03-01"),
        ("Friday, March 1, 2024", "2024-03-01"),
        ("01.03.2024", "2024-03-01"),
        ("25/03/2024", "2024-03-25"),
        ("03/25/2024", "2024-03-25"),
        ("03/03/2024", "2024-03-03"),
        ("25-03-2024", "2024-03-25"),
        ("03/2024", "2024-03-01"),
        ("1 tháng 3 năm 2024", "2024-03-01"),
        ("1 مارس 2024", "2024-03-01"),
        ("2024년 3월 1일", "2024-03-01"),
        ("2024年3月1日", "2024-03-01"),
        ("2024-03-01 10:30", "2024-03-01"),
        ("2024-03-01T10:30:00", "2024-03-01"),
        ("2024-03-01T10:30:00Z", "2024-03-01T10:30:00Z"),
        ("2024-03-01T10:30:00.123456+09:00", "2024-03-01T01:30:00Z"),
        ("2024-03-01 10:30:00 +0900", "2024-03-01T01:30:00Z"),
        ("Fri, 01 Mar 2024 10:30:00 +0900", "2024-03-01T01:30:00Z"),
        ("Fri, 1 Mar 2024 10:30:00 GMT", "2024-03-01T10:30:00Z"),
        ("1709289000", "2024-03-01T10:30:00Z"),
        ("1709289000000", "2024-03-01T10:30:00Z"),
        ("  2024-03-01\n", "2024-03-01"),
    ],
)
def test_common_forms_are_read(text, expected):
    assert parse_date(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2024",
        "03/04/2024",
        "13/13/2024",
        "2024-02-30",
        "2024-13-01",
        "0001-01-01",
        "9999-12-31",
        "2024-03-01T25:00:00Z",
        "2024-03-01T10:00:00+99:99",
        "tomorrow",
        "version 2024-03-01",
        "{{ date }}",
        "2024-03-01" * 20,
        "1" * 50_000,
    ],
)
def test_what_is_no_date_or_may_be_another_is_none(text):
    assert parse_date(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-01T10:30:00Z", "2024-03-01T10:30:00Z"),
        ("<2024-03-01 Fri>", "2024-03-01"),
        ("$Date: 2020/1/9 $", "2020-01-09"),
        ("v1.2, March 1, 2024", "2024-03-01"),
        ("2024-13-01", None),
        ("yesterday", None),
    ],
)
def test_a_date_in_a_field_is_found(text, expected):
    assert find_date(text) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("2024-03-01 meeting.md", "2024-03-01"),
        ("2024-W12-review.md", "2024-03-18"),
        ("2024-Q3_goals.md", "2024-07-01"),
        ("notes/meeting 2024-03-01.md", "2024-03-01"),
        ("20240301-x.md", "2024-03-01"),
        ("202403011030 zettel.md", "2024-03-01"),
        ("IMG_20240301_103000.jpg", "2024-03-01"),
        ("journals/2024_03_01.md", "2024-03-01"),
        ("2024년 3월 1일.md", "2024-03-01"),
        ("회의 2024.03.01.md", "2024-03-01"),
        ("March 1, 2024.md", "2024-03-01"),
        ("daily/2024/03/01.md", "2024-03-01"),
        ("daily/2024/03/01-walk.md", "2024-03-01"),
        ("2024-02-30 2024-03-01.md", "2024-03-01"),
        ("25-03-2024 walk.md", "2024-03-25"),
        ("2024-03.md", "2024-03-01"),
        ("part 2024-03.md", None),
    ],
)
def test_a_date_in_the_name_of_a_file_is_found(path, expected):
    assert find_date_in_path(path) == expected


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)))
def test_every_plausible_day_is_found_in_each_form(day):
    for form in ("%Y-%m-%d", "%Y%m%d", "%Y_%m_%d", "%B %d, %Y", "%d %b %Y"):
        name = f"{day:{form}}"
        assert parse_date(name) == find_date_in_path(f"a/{name}.md") == day.isoformat()


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error(text):
    parse_date(text)
    find_date_in_path(text)


@pytest.mark.parametrize(
    ("metadata", "path", "is_property", "expected"),
    [
        ("2020-01-01", "2024-03-01.md", False, "2020-01-01"),
        (None, "2024-03-01.md", False, "2024-03-01"),
        ("2020-01-01", "2024-03-01.docx", True, "2024-03-01"),
        ("2020-01-01", "x.docx", True, "2020-01-01"),
        (None, "x.md", False, None),
    ],
)
def test_text_comes_before_the_name_and_the_name_before_properties(
    metadata, path, is_property, expected
):
    assert choose_date(metadata, path, is_property=is_property) == expected


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("二〇一四年十一月五日开会", ["2014-11-05"]),
        ("会議は三月五日です", ["--03-05"]),
        ("2015년 6월 17일 오전", ["2015-06-17"]),
        ("due 4.6.2025, paid in Nov 2013", ["2025-06-04", "2013-11"]),
        ("the 3rd quarter of 2019, and week 7, 2020", ["2019-Q3", "2020-W07"]),
        ("2020-W54, 2020-W00, 2019-Q5, 1500 W 12 V", []),
        ("平成30年10月1日から令和元年5月", ["2018-10-01", "2019-05"]),
    ],
)
def test_dates_within_a_text_are_found(text, dates):
    assert [one.value for one in find_written_dates(text)] == dates
