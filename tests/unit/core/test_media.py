from kebab.core.media import (
    MEDIA_TYPES,
    list_media_types,
    list_type_names,
)


def test_suffixes_and_names_belong_to_one_media_type():
    suffixes = [suffix for media in MEDIA_TYPES for suffix in media.suffixes]
    names = [name for media in MEDIA_TYPES for name in media.names]
    assert len(suffixes) == len(set(suffixes))
    assert len(names) == len(set(names))
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in suffixes)


def test_a_word_for_a_format_means_its_media_type_and_itself():
    assert list_media_types("Markdown") == ["text/markdown", "Markdown"]
    assert list_media_types("mdx") == ["text/markdown", "mdx"]
    assert list_media_types("text/x-any") == ["text/x-any"]


def test_the_words_for_a_media_type_lead_to_its_shortest_name():
    words = list_type_names(["application/pdf", "text/markdown", "text/x-any"])

    assert {words["pdf"], words["PDF"], words["application/pdf"]} == {"pdf"}
    assert {words["mdx"], words["Markdown"]} == {"md"}
    assert set(words.values()) == {"pdf", "md"}
    assert all(list_media_types(word)[:-1] for word in words.values())
