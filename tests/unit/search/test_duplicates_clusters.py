from itertools import combinations

from kebab.search.duplicates import Cluster, build_adjacency, cluster_by_leader


def all_of(count):
    return build_adjacency(combinations(range(count), 2))


def test_adjacency_lists_partners_of_both_sides_in_order():
    assert build_adjacency([(7, 3), (1, 7)]) == {1: [7], 3: [7], 7: [3, 1]}
    assert build_adjacency([]) == {}


def test_the_first_item_leads_the_items_similar_to_it():
    found = list(
        cluster_by_leader(all_of(5), lambda one, other: 0.1 + 0.8 * ((one + other) % 2 == 0), 0.7)
    )

    assert [one.items for one in found] == [(0, 2, 4), (1, 3)]
    assert found[0].similarity[0] == 1.0


def test_a_leader_is_compared_with_the_partners_of_its_members():
    found = list(cluster_by_leader(build_adjacency([(0, 1), (1, 2), (2, 3)]), lambda *_: 0.9, 0.7))

    assert found == [Cluster((0, 1, 2, 3), (1.0, 0.9, 0.9, 0.9))]


def test_a_chain_is_split():
    found = list(cluster_by_leader(all_of(6), lambda one, other: 1 - 0.2 * abs(one - other), 0.7))

    assert [one.items for one in found] == [(0, 1), (2, 3), (4, 5)]


def test_an_item_similar_to_nothing_is_no_cluster():
    assert list(cluster_by_leader(build_adjacency([(0, 1)]), lambda *_: 0.0, 0.7)) == []


def test_every_pair_is_compared_at_most_once():
    asked = []
    pairs = [(one, one + step) for one in range(2_000) for step in (1, 2, 3)]

    def half(one, other):
        asked.append((one, other))
        return 0.5

    assert list(cluster_by_leader(build_adjacency(pairs), half, 0.7)) == []
    assert len(asked) <= len(pairs)
