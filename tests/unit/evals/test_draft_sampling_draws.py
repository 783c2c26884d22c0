from kebab.evals.draft import compute_draw, shuffle


def test_the_draw_of_a_name_is_always_the_same():
    assert compute_draw(1, "a.md") == compute_draw(1, "a.md") == 0x7386D1917781930E
    assert len({compute_draw(seed, "a.md") for seed in range(100)}) == 100


def test_parts_with_the_same_concatenation_have_different_draws():
    assert compute_draw("a", "bc") != compute_draw("ab", "c")


def test_the_order_depends_on_the_seed_alone():
    things = [*range(20)]

    assert shuffle(things, 1, str) == shuffle(reversed(things), 1, str)
    assert shuffle(things, 1, str) != shuffle(things, 2, str)
    assert sorted(shuffle(things, 1, str)) == things


def test_a_name_with_a_surrogate_has_a_draw():
    assert compute_draw("\udcff") >= 0
