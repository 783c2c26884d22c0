import pytest

from kebab.rag.passages import Stretch, ValueKind, find_numbers, find_values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It took 45 minutes.", [(("45",), "min")]),
        ("a 45-minute start", [(("45",), "min")]),
        ("It cost $3 million.", [(("3000000",), "$")]),
        ("It cost 3,000,000 dollars.", [(("3000000",), "$")]),
        ("Es kostet 1.500 Euro.", [(("1500", "1.5"), "€")]),
        ("2,5 kg and 2.50 kg", [(("2.5",), "kg"), (("2.5",), "kg")]),
        ("twelve days", [(("12",), "d")]),
        ("30퍼센트, 3만 원", [(("30",), "%"), (("30000",), "₩")]),
        ("version v1.2.3", [(("1.2.3",), None)]),
        ("5% of 70", [(("5",), "%"), (("70",), None)]),
        ("GPT4 and x2", []),
    ],
)
def test_numbers_have_values_and_units(text, expected):
    assert [(one.values, one.unit) for one in find_numbers(text)] == expected


def list_values(text, kind, **how):
    values, _ = find_values(text, **how)
    return [one.text for one in values if one.kind is kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The pump in Berlin was built by Anna Meyer.", ["Berlin", "Anna", "Meyer"]),
        ("Pumps are loud.", []),
        ("However, the NATO met.", ["NATO"]),
        ("use snake_case, camelCase and UTF-8", ["snake_case", "camelCase", "UTF-8"]),
        ("It began in March.", ["March"]),
        ("펌프는 Berlin의 restic", ["Berlin", "restic"]),
        ("ポンプはベルリンにある。", ["ポンプ", "ベルリン"]),
        ("榎本武揚が来た。", ["榎本武揚"]),
    ],
)
def test_names_are_capitalised_words_identifiers_and_runs_of_one_script(text, expected):
    assert list_values(text, ValueKind.NAME) == expected


def holds(claim, text):
    stretch = Stretch(text)
    return [stretch.holds(one) for one in find_values(claim)[0] if one.kind is not ValueKind.FIRST]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("on 2024-03-12", "on 12 March 2024"),
        ("on March 12, 2024", "on 2024-03-12"),
        ("in March 2024", "on 2024-03-12"),
        ("on 6 October 2023", "from 6 to 25 October 2023"),
        ("it took 45", "a 45-minute start"),
        ("in Berlin", "Berlin's pumps"),
        ("by the German army", "an army of Germany"),
        ("by the EU", "the European Union said"),
        ("the UTF-8 text", "utf8 text"),
        ("ベルリンにある", "ベルリンの"),
    ],
)
def test_a_value_is_found_in_another_form(claim, text):
    assert all(holds(claim, text))


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("on 13 March 2024", "on 12 March 2024"),
        ("in May 2024", "on 2024-03-12"),
        ("it took 45 seconds", "it took 45 minutes"),
        ("in Nigeria", "in Niger"),
        ("in Austria", "in Australia"),
        ("with Maria", "with Mario"),
        ("the UTF-16 text", "UTF-8 text"),
        ("by the EU", "the United Nations"),
        ("ベルリンにある", "ミュンヘンにある"),
    ],
)
def test_another_value_is_not_found(claim, text):
    assert not all(holds(claim, text))


@pytest.mark.parametrize(
    "unit", ["Aa ", "a.", "_a", "A of ", "1,", "1.", "100 ", "twenty-", '"a" ']
)
def test_hostile_rows_are_read_completely(unit):
    values, terms = find_values(unit * 3_000)

    assert len(values) + len(terms) <= 6_001
