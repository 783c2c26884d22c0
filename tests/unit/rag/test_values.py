import pytest

from kebab.rag.values import ValueKind, find_facts, find_numbers, find_values


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
        ("榎本武揚が来た。", ["榎本武揚"]),
    ],
)
def test_names_are_capitalised_words_identifiers_and_runs_of_one_script(text, expected):
    assert list_values(text, ValueKind.NAME) == expected


@pytest.mark.parametrize(
    "unit", ["Aa ", "a.", "_a", "A of ", "1,", "1.", "100 ", "twenty-", '"a" ']
)
def test_hostile_rows_are_read_completely(unit):
    values, terms = find_values(unit * 3_000)

    assert len(values) + len(terms) <= 6_001


def list_facts(question, *languages):
    return [one.name for one in find_facts(question, languages)[0]]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who founded Red Hat in Raleigh?", ["Red", "Hat", "Raleigh"]),
        ("What is Ada's plan for the NAS?", ["Ada", "NAS"]),
        ("over 1,000 metres in the 16th century", ["1,000", "16th"]),
        ("on 12 March 2024 in 8b", ["12 March 2024", "8b"]),
        ("is c++, MPEG-3 or v1.2 in my_file.txt", ["c++", "MPEG-3", "v1.2", "my_file.txt"]),
        ("what does --max-pods of kubelet do", ["max-pods"]),
        ("how do i restore a backup", []),
        ("what does 🐛 or → mean in Git", ["Git"]),
        ("クラウドのバックアップはいつですか", ["クラウド", "バックアップ"]),
        ("kubelet은 어떻게 설정하나요", ["kubelet"]),
        ("榎本武揚は2019年に何をしたか", ["2019"]),
        ("", []),
    ],
)
def test_the_facts_of_a_question_are_names_codes_numbers_and_dates(question, expected):
    assert list_facts(question) == expected


@pytest.mark.parametrize(
    ("languages", "expected"),
    [
        (["ko"], ["v1.2", "300"]),
        (["ko", None], ["Anna", "v1.2", "300"]),
        ([], ["Anna", "v1.2", "300"]),
    ],
)
def test_names_of_another_language_than_that_of_the_notes_are_no_facts(languages, expected):
    question = "What did Anna say of the 300 pumps in v1.2 and how was it?"

    assert sorted(list_facts(question, *languages)) == sorted(expected)
