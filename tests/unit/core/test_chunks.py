from kebab.core.chunks import build_embed_text


def test_title_and_headings_are_on_one_line_above_the_text():
    assert (
        build_embed_text("Guide", ("Set-up", "Linux"), "Run it.")
        == "Guide > Set-up > Linux\nRun it."
    )


def test_a_title_that_begins_the_heading_path_is_not_repeated():
    assert build_embed_text("Guide", ("Guide", "Linux"), "Run it.") == "Guide > Linux\nRun it."


def test_text_without_title_and_headings_is_unchanged():
    assert build_embed_text("", (), "Run it.") == "Run it."


def test_context_stands_between_the_headings_and_the_text():
    assert build_embed_text("T", (), "row", "| name |") == "T\n| name |\nrow"
    assert build_embed_text("", (), "row", "| name |") == "| name |\nrow"
    assert build_embed_text("T", (), "") == "T\n"
