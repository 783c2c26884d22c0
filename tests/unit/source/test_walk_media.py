import pytest

from kebab.core.media import MARKDOWN, PLAIN, detect_media_type


@pytest.mark.parametrize(
    ("name", "media"),
    [
        ("a.md", MARKDOWN),
        ("UPPER.MD", MARKDOWN),
        ("a.b.c.tar.md", MARKDOWN),
        ("--help.md", MARKDOWN),
        ("trailing-dot..md", MARKDOWN),
        ("new\nline.mdx", MARKDOWN),
        ("log.txt", PLAIN),
        ("guide.RST", "text/x-rst"),
        ("photo.mp3", None),
        ("README", None),
        (".md", None),
        ("ends-with-dot.", None),
    ],
)
def test_the_last_suffix_decides_the_media_type(name, media):
    assert detect_media_type(name) == media
