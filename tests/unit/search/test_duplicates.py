import random
from itertools import product

import numpy as np
import pytest

from kebab.core.queries import Filters
from kebab.search import duplicates
from kebab.search.duplicates import cluster_by_leader, compute_signature, find_duplicates

WORDS = ["".join(letters) for letters in product("bcdfghkmpr", repeat=4)][:4000]
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
    found, _ = find_duplicates(reader, threshold, filters or Filters(), exact=exact)
    return [
        (
            one.unit,
            one.exact,
            [
                f"{chunk.path}:{chunk.start_line}"
                for item in one.items
                for chunk in reader.load_chunks(item.keys[:1])
            ],
        )
        for one in found
    ]


def test_documents_of_the_same_text_are_a_group_and_their_passages_are_not(base):
    base.add("a.md", prose(1), prose(2))
    base.add("b.md", prose(1), prose(2))

    assert groups(base) == [("document", False, ["a.md:1", "b.md:1"])]


def test_sections_of_a_template_make_no_copies(base):
    for number in range(10):
        base.add(f"day{number}.md", prose(1), prose(2), prose(10 + number))
    base.add("copy.md", prose(1), prose(2), prose(10))

    units = [(unit, len(members)) for unit, _, members in groups(base)]

    assert units == [("document", 2), ("passage", 11), ("passage", 11)]


@pytest.mark.parametrize("text", [prose(1), KOREAN, JAPANESE])
def test_a_passage_of_two_documents_is_found_in_any_script(base, text):
    base.add("a.md", text, prose(2), prose(3))
    base.add("b.md", prose(4), prose(5), text)

    assert groups(base) == [("passage", True, ["a.md:1", "b.md:3"])]


def test_an_edited_copy_is_similar(base):
    base.add("a.md", prose(1))
    base.add("b.md", edited(prose(1), 10, 60))
    reader = base.reader()

    (group,), _ = find_duplicates(reader, 0.7, Filters())

    assert (group.unit, group.exact) == ("document", False)
    assert group.similarities == [1.0, pytest.approx(72 / 84)]
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


def test_a_chain_is_split():
    partners = {one: [other for other in range(6) if other != one] for one in range(6)}

    found = cluster_by_leader(partners, lambda one, other: 1 - 0.2 * abs(one - other), 0.7)

    assert [[*one] for one in found] == [[0, 1], [2, 3], [4, 5]]


RNG = np.random.default_rng(5)


def numbers(count):
    return RNG.integers(0, 1 << 63, count, np.uint64)


def pair(likeness, size=400):
    """Return two sets of this Jaccard index."""
    shared = round(size * likeness)
    half = (size - shared) // 2
    both, left, right = numbers(shared), numbers(half), numbers(half)
    return np.concatenate([both, left]), np.concatenate([both, right])


@pytest.mark.parametrize(("threshold", "least"), [(0.5, 0.85), (0.7, 0.93), (0.9, 0.99)])
def test_pairs_at_the_threshold_are_found(threshold, least):
    sets = [one for _ in range(200) for one in pair(threshold)]
    random.Random(1).shuffle(order := list(range(400)))
    place = {item: at for at, item in enumerate(order)}
    wanted = {tuple(sorted((place[at], place[at + 1]))) for at in range(0, 400, 2)}

    found = duplicates.find_candidates([compute_signature(sets[item]) for item in order], threshold)

    assert sum(right in found[left] for left, right in wanted) >= least * len(wanted)
