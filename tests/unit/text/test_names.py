import pytest

from kebab.text.names import (
    join_name,
    list_index_words,
    read_file_name,
    read_names,
)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/Cards view.md", "Cards view"),
        ("a/cards-view_plan.md", "cards view plan"),
        ("2024-03-01.md", "2024-03-01"),
        ("2024-03-01-budget.md", "2024-03-01 budget"),
        ("Tide 0123456789abcdef0123456789abcdef.md", "Tide"),
        ("a - b.md", "a - b"),
        ("guides/README.md", "guides/README"),
        ("README.md", "README"),
    ],
)
def test_a_file_name_is_read_as_words(path, name):
    assert read_file_name(path) == name


def test_the_name_of_a_file_weighs_most_and_a_vague_one_least():
    names = read_names("a/plan.md", "Budget", ("Money",)).weights
    vague = read_names("tides/README.md", "Budget", ()).weights

    assert names["plan"] > names["Budget"] == names["Money"]
    assert vague["tides"] == vague["Budget"] > vague["README"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("tide plan", True),
        ("tide-plan.md", True),
        ("deep/tide-plan.md", True),
        ("plan", False),
        ("deep", False),
    ],
)
def test_a_whole_name_has_a_weight(name, found):
    names = read_names("deep/tide-plan.md", "Budget", ())

    assert (join_name(name) in names.joined) == found


def test_the_words_of_a_document_are_those_of_its_names_and_folders():
    words = list_index_words("deep/tide-plan.md", "Budget", ("Money",))

    assert words.keys() == {"tide", "plan", "tideplan", "budget", "money", "deep"}
    assert (words["tide"], words["deep"]) == ("tide", "")
