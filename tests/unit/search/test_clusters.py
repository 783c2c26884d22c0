from kebab.search.clusters import Cluster, components, led


def test_what_pairs_connect_is_one_part_in_order():
    assert components([(7, 3), (1, 2), (3, 9), (2, 0)]) == [[0, 1, 2], [3, 7, 9]]
    assert components([]) == []


def test_a_long_chain_is_connected_without_deep_recursion():
    (part,) = components((at, at + 1) for at in range(20_000))

    assert part == list(range(20_001))


def test_the_first_item_leads_those_that_are_like_it():
    def likeness(first, others):
        return [0.9 if (first + other) % 2 == 0 else 0.1 for other in others]

    found = list(led([0, 1, 2, 3, 4], likeness, 0.7))

    assert found == [Cluster((0, 2, 4), (1.0, 0.9, 0.9)), Cluster((1, 3), (1.0, 0.9))]


def test_the_ends_of_a_chain_do_not_meet():
    def likeness(first, others):
        return [1 - 0.2 * abs(first - other) for other in others]

    found = list(led(range(6), likeness, 0.7))

    assert [one.items for one in found] == [(0, 1), (2, 3), (4, 5)]


def test_what_is_like_nothing_is_no_cluster():
    assert list(led([0, 1], lambda _, others: [0.0] * len(others), 0.7)) == []
