from kebab.core.chunks import build_embed_text


def test_the_context_stands_on_one_line_above_the_text():
    assert (
        build_embed_text("Guide", ("Set-up", "Linux"), "Run it.")
        == "Guide > Set-up > Linux\nRun it."
    )


def test_a_title_that_opens_the_heading_path_is_said_once():
    assert build_embed_text("Guide", ("Guide", "Linux"), "Run it.") == "Guide > Linux\nRun it."


def test_text_without_context_stands_alone():
    assert build_embed_text("", (), "Run it.") == "Run it."
