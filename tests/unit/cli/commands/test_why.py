def test_text_begins_with_the_verdict(kebab):
    assert kebab("why", "restore", "a.md").out.startswith("found at rank 1\n")


def test_a_query_and_a_document_are_needed(kebab):
    assert kebab("why", "restore", "--json").fault["code"] == "usage_invalid"
