from kebab.evals.sampling import lot, shuffled


def test_the_lot_of_a_thing_is_always_the_same():
    assert lot(1, "a.md") == lot(1, "a.md") == 0x7386D1917781930E
    assert len({lot(seed, "a.md") for seed in range(100)}) == 100


def test_names_that_join_alike_have_lots_of_their_own():
    assert lot("a", "bc") != lot("ab", "c")


def test_things_are_shuffled_by_seed_alone():
    things = [*range(20)]

    assert shuffled(things, 1, str) == shuffled(reversed(things), 1, str)
    assert shuffled(things, 1, str) != shuffled(things, 2, str)
    assert sorted(shuffled(things, 1, str)) == things


def test_a_name_that_is_no_valid_text_has_a_lot():
    assert lot("\udcff") >= 0
