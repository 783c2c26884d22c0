import pytest

from kebab.source.media import MARKDOWN, PLAIN, media_of, suffix_of


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
        ("guide.RST", PLAIN),
        ("photo.png", None),
        ("README", None),
        (".md", None),
        ("ends-with-dot.", None),
    ],
)
def test_the_last_suffix_tells_the_media_type(name, media):
    assert media_of(name) == media


def test_a_suffix_is_lower_case_and_keeps_its_dot():
    assert suffix_of("A.Tar.GZ") == ".gz"
