from kebab.core.content import describe_unsupported
from kebab.core.media import MEDIA_TYPES


def test_a_known_format_is_named_with_what_to_do():
    assert describe_unsupported(".HWP") == ("Hangul document", "save it as DOCX, PDF or HTML")
    assert describe_unsupported(".zip") == ("archive", "extract it")


def test_some_formats_have_no_text():
    assert describe_unsupported(".mp3") == ("audio", "")
    assert describe_unsupported(".svg") == ("vector image", "")


def test_an_unknown_suffix_has_no_description():
    assert describe_unsupported(".foo") is None
    assert describe_unsupported("") is None


def test_formats_that_are_read_without_an_option_are_not_listed():
    images = {".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp"}
    read = {suffix for media in MEDIA_TYPES for suffix in media.suffixes} - images

    assert not [suffix for suffix in read if describe_unsupported(suffix)]
