import random
from itertools import combinations, product

import numpy as np
import pytest

from kebab.core.queries import Filters
from kebab.search import duplicates
from kebab.search.duplicates import (
    build_adjacency,
    cluster_by_leader,
    find_duplicates,
)
from kebab.search.signatures import compute_signatures

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
    found = find_duplicates(
        reader,
        threshold,
        filters or Filters(),
        exact=exact,
    ).groups
    return [
        (
            one.items.unit,
            one.exact,
            [
                f"{chunk.path}:{chunk.start_line}"
                for text in one.texts
                for chunk in reader.load_chunks(text.keys[:1])
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

    assert (group.items.unit, group.exact) == ("document", False)
    assert list(group.cluster.similarity) == [1.0, pytest.approx(72 / 84)]
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


def all_of(count):
    return build_adjacency(combinations(range(count), 2))


def test_a_chain_is_split():
    found = list(cluster_by_leader(all_of(6), lambda one, other: 1 - 0.2 * abs(one - other), 0.7))

    assert [one.items for one in found] == [(0, 1), (2, 3), (4, 5)]


RNG = np.random.default_rng(5)


def rows(*sets):
    """Return the signatures of sets of numbers."""
    starts = np.cumsum([0, *map(len, sets)])[:-1]
    return compute_signatures(np.concatenate([np.array(one, np.uint64) for one in sets]), starts)


def numbers(count):
    return RNG.integers(0, 1 << 63, count, np.uint64)


def pair(likeness, size=400):
    """Return two sets of this Jaccard index."""
    shared = round(size * likeness)
    half = (size - shared) // 2
    both, left, right = numbers(shared), numbers(half), numbers(half)
    return np.concatenate([both, left]), np.concatenate([both, right])


@pytest.mark.parametrize("likeness", [0.0, 0.3, 0.7, 1.0])
def test_signatures_estimate_the_jaccard_index(likeness):
    sets = [one for _ in range(100) for one in pair(likeness)]
    pairs = np.arange(200).reshape(-1, 2)

    found = duplicates.estimate_similarities(rows(*sets), pairs)

    assert found.mean() == pytest.approx(likeness, abs=0.02)


@pytest.mark.parametrize(("threshold", "least"), [(0.5, 0.85), (0.7, 0.93), (0.9, 0.99)])
def test_pairs_at_the_threshold_are_found(threshold, least):
    sets = [one for _ in range(200) for one in pair(threshold)]
    random.Random(1).shuffle(order := list(range(400)))
    place = {item: at for at, item in enumerate(order)}
    wanted = {tuple(sorted((place[at], place[at + 1]))) for at in range(0, 400, 2)}

    found = duplicates.find_candidate_pairs(rows(*(sets[item] for item in order)), threshold)

    assert len(wanted & set(map(tuple, found.tolist()))) >= least * len(wanted)


def test_similar_sets_are_found_among_many_half_similar_ones():
    shared = numbers(150)
    crowd = [np.concatenate([shared, numbers(75)]) for _ in range(600)]
    twins = [np.concatenate([one[:-6], numbers(6)]) for one in crowd[:100]]

    found = duplicates.find_candidate_pairs(rows(*crowd, *twins), 0.7)

    wanted = {(at, 600 + at) for at in range(100)}
    assert len(wanted & set(map(tuple, found.tolist()))) >= 90
    assert len(found) < 700 * 4 * 16
