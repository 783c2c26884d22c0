def test_ten_neighbours_are_asked_for_without_a_limit(kebab, opened):
    kebab("related", "a.md")

    assert opened[0].asked[0][1].limit == 10


def test_an_invalid_date_is_invalid_input(kebab):
    assert kebab("related", "a.md", "--since", "whenever", "--json").fault["code"] == (
        "invalid_input"
    )
