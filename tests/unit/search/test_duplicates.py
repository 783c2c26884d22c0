import random

import pytest

from kebab.core.queries import Filters
from kebab.search.duplicates import find_duplicates

WORDS = [f"word{number}" for number in range(4000)]
KOREAN = "백업을 복원하기 전에 저장소를 먼저 검사하고 오류가 없는지 반드시 확인한 다음에 시작한다"
JAPANESE = "復元する前に必ず保管庫を検査して誤りがないことを確かめてから作業を始めることにしている"


def prose(seed, count=80):
    return " ".join(random.Random(seed).sample(WORDS, count))


def edited(text, *places):
    words = text.split()
    for place in places:
        words[place] = "edited"
    return " ".join(words)


def groups(base, threshold=0.7, *, filters=None, exact=False):
    """Return each group as unit, exactness and the places of its members."""
    reader = base.reader()
    found = find_duplicates(reader, threshold, filters or Filters(), exact=exact).groups
    return [
        (
            one.unit,
            one.exact,
            [
                f"{chunk.path}:{chunk.start_line}"
                for copy in one.copies
                for chunk in reader.load_chunks(copy.keys[:1])
            ],
        )
        for one in found
    ]


def test_without_copies_there_are_no_groups(base):
    base.add("a.md", prose(1), prose(2))
    base.add("b.md", prose(3))

    found = find_duplicates(base.reader(), 0.7, Filters())

    assert (found.groups, found.compared) == ([], 3)


def test_an_empty_library_has_no_groups(base):
    assert find_duplicates(base.reader(), 0.7, Filters()).compared == 0


def test_documents_of_the_same_text_are_a_group_and_their_passages_are_not(base):
    base.add("a.md", prose(1), prose(2))
    base.add("b.md", prose(1), prose(2))

    assert groups(base) == [("document", False, ["a.md:1", "b.md:1"])]


@pytest.mark.parametrize("text", [prose(1), KOREAN, JAPANESE])
def test_a_passage_of_two_documents_is_found_in_any_script(base, text):
    base.add("a.md", text, prose(2), prose(3))
    base.add("b.md", prose(4), prose(5), text)

    assert groups(base) == [("passage", True, ["a.md:1", "b.md:3"])]


def test_an_edited_copy_is_similar(base):
    base.add("a.md", prose(1))
    base.add("b.md", edited(prose(1), 10, 60))
    reader = base.reader()

    (group,) = find_duplicates(reader, 0.7, Filters()).groups

    assert (group.unit, group.exact) == ("document", False)
    assert [copy.similarity for copy in group.copies] == [1.0, pytest.approx(72 / 84)]
    assert group.similarity == pytest.approx(72 / 84)


def test_the_threshold_decides_which_documents_are_similar(base):
    base.add("a.md", prose(1))
    base.add("b.md", edited(prose(1), 10, 60))

    assert groups(base, 0.9) == []
    assert len(groups(base, 0.85)) == 1


def test_exact_finds_identical_items_only(base):
    base.add("a.md", prose(1), prose(2), prose(9))
    base.add("b.md", edited(prose(1), 4), prose(2), prose(8))

    assert groups(base, exact=True) == [("passage", True, ["a.md:2", "b.md:2"])]


def test_a_passage_repeated_in_one_document_is_found(base):
    base.add("a.md", prose(1), prose(2), prose(1))

    assert groups(base) == [("passage", True, ["a.md:1", "a.md:3"])]


def test_a_passage_that_duplicate_documents_do_not_explain_is_found(base):
    base.add("a.md", prose(1), prose(2))
    base.add("b.md", prose(1), prose(2))
    base.add("c.md", prose(3), prose(4), prose(2))

    assert groups(base) == [
        ("document", False, ["a.md:1", "b.md:1"]),
        ("passage", True, ["a.md:2", "b.md:2", "c.md:3"]),
    ]


def test_passages_of_a_few_words_are_ignored(base):
    base.add("a.md", "See also the index", prose(1))
    base.add("b.md", "See also the index", prose(2))

    assert groups(base) == []


def test_texts_that_share_no_words_are_no_duplicates(base):
    base.add(
        "a.md", "Restore the backup from the vault before the disk is wiped and check it twice"
    )
    base.add(
        "b.md", "Recover a saved copy out of storage ahead of erasing that drive, verifying it"
    )

    assert groups(base, 0.5) == []


def test_filters_apply_to_every_member(base):
    base.add("a.md", prose(1), tags=["x"])
    base.add("b.md", prose(1), tags=["x"])
    base.add("c.md", prose(1))

    assert groups(base, filters=Filters(tag=("x",))) == [("document", False, ["a.md:1", "b.md:1"])]


def test_many_copies_are_one_group(base):
    for number in range(40):
        base.add(f"{number:02}.md", prose(1), prose(100 + number), prose(200 + number), embed=False)

    ((unit, exact, places),) = groups(base)

    assert (unit, exact, len(places)) == ("passage", True, 40)


def test_documents_come_first_then_the_most_similar(base):
    base.add("a.md", prose(1))
    base.add("b.md", edited(prose(1), 30))
    base.add("c.md", prose(2), prose(3), prose(4))
    base.add("d.md", prose(2), prose(5), edited(prose(4), 7))

    assert [(unit, places[0]) for unit, _, places in groups(base)] == [
        ("document", "a.md:1"),
        ("passage", "c.md:1"),
        ("passage", "c.md:3"),
    ]
