def test_ten_neighbours_are_asked_for_without_a_limit(kebab, opened):
    kebab("related", "a.md")

    assert opened[0].asked[0][1].limit == 10


def test_neighbours_are_shown(kebab):
    assert kebab("related", "a.md", "--json").reply["schema_version"] == "related_docs.v1"
    assert "ops/backup.md:12" in kebab("related", "a.md").out


def test_one_document_is_no_filter_for_neighbours(kebab):
    ran = kebab("related", "a.md", "--doc-id", "x", "--json")

    assert (ran.status, ran.fault["code"]) == (2, "usage_invalid")


def test_an_invalid_date_is_invalid_input(kebab):
    assert kebab("related", "a.md", "--since", "whenever", "--json").fault["code"] == (
        "invalid_input"
    )
