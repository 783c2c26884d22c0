"""Passages have what a reader sees; their lines are those of the file."""

import pytest

from kebab.chunk.budget import Budget
from kebab.chunk.split import split_document
from kebab.core.media import PLAIN, detect_media_type
from kebab.parse.registry import PARSERS


def read(name, source):
    """Return the passages of a file with their first and last lines."""
    media = detect_media_type(name) or PLAIN
    document = PARSERS[media].parse(source.encode(), name)
    chunks = split_document(document, Budget(254))
    return [(chunk.text, chunk.start_line, chunk.end_line) for chunk in chunks]


@pytest.mark.parametrize(
    ("name", "source", "seen"),
    [
        ("a.md", "Le h&eacute;ron &#x1F680; &#233;", "Le héron 🚀 é"),
        ("a.md", "Donau&shy;dampfer snake\\_case", "Donaudampfer snake_case"),
        ("a.md", "10<sup>6</sup> H<sub>2</sub>O", "10^6 H2O"),
        ("a.md", "`&nbsp;` in M&uuml;nchen", "`&nbsp;` in München"),
        ("a.md", "<p>Caf&eacute; <!-- no --></p>", "<p>Café </p>"),
        ("a.md", "| a\\|b | c&uuml; |\n|-|-|\n| 1 | 2 |", "| a\\|b | cü |\n|-|-|\n| 1 | 2 |"),
        ("a.md", "    code &amp; more", "    code &amp; more"),
        ("a.json", r'{"a": "\uc11c\uc6b8 \ud83d\ude80", "b": "x\ny"}', '{"a": "서울 🚀", "b": "x y"}'),  # noqa: E501
        ("a.jsonl", r'{"a": "Stra\u00dfe"}', '{"a": "Straße"}'),
        ("a.json", r'{"a": "\ud83d alone"}', r'{"a": "\ud83d alone"}'),
        ("a.yaml", "a: \"Z\\u00fcrich \\xe9\"\nb: 'C:\\u0041'", "a: \"Zürich é\"\nb: 'C:\\u0041'"),
        ("a.properties", "city=Z\\u00fcrich", "city=Zürich"),
        ("a.toml", 'city = "Z\\u00fcrich"', 'city = "Zürich"'),
        ("a.xml", "<a>Caf&#233; &#xC11C;</a>", "<a>Café 서</a>"),
        ("a.tex", "M{\\\"u}ller caf\\'e stra\\ss e \\c{c}a 50\\% Donau\\-dampf", "Müller café straße ça 50% Donaudampf"),  # noqa: E501
        ("a.py", "city = '\\uc11c\\uc6b8'", "city = '서울'"),
        ("a.adoc", "Caf&eacute; it&#8217;s", "Café it’s"),
        ("a.json", r'["Zo\u00c3\u00ab \u00e2\u0080\u0093 \u00d0\u00b4\u00d0\u00b0"]', '["Zoë – да"]'),  # noqa: E501
        ("a.json", r'["\u00abCAF\u00c9\u00bb", "\u00c3\u00c3"]', '["«CAFÉ»", "ÃÃ"]'),
        ("a.json", r'["na&iuml;ve\n&amp; so"]', '["naïve & so"]'),
        ("a.csv", "a,b\nna&iuml;ve,2", "a,b\nnaïve,2"),
        ("a.rss", "<a>&lt;b&gt; ma&amp;icirc;tre &amp; co</a>", "<a><b> maître & co</a>"),
        ("a.txt", "Gr&uuml;n &amp; &nbsp;", "Grün &amp; &nbsp;"),
        ("a.txt", ".TH A 1\n\\fB\\-\\-dry\\fR na\\(:ive \\(cqt", ".TH A 1\n--dry naïve 't"),
        ("a.po", 'msgid "first\\nthen \\"it\\""', 'msgid "first then "it""'),
    ],
)  # fmt: skip
def test_escapes_are_read(name, source, seen):
    assert [text for text, _, _ in read(name, source)] == [seen]


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- tapir -->",
        "<!-- tapir\nand more -->",
        "%% tapir %%",
        "%%tapir [[link]] and\nmore%%",
        "\n\n[//]: # (tapir)\n\n",
        "\n\n[comment]: <> (tapir)\n\n",
        "\n\n%%\ntapir\n%%\n\n",
    ],
)
def test_comments_are_in_no_passage_and_move_no_line(comment):
    source = f"# A\n\nfirst {comment} second\n\nlast"
    ((text, first, last),) = read("a.md", source)
    assert "tapir" not in text
    assert (first, last) == (1, source.count("\n") + 1)
    lines = zip(text.split("\n"), source.split("\n"), strict=True)
    assert all(seen in ("", line) or "first" in seen or "second" in seen for seen, line in lines)


def test_what_is_no_comment_stays():
    assert read("a.md", "100%% of `%% x %%` and 50%%")[0][0] == "100%% of `%% x %%` and 50%%"


def test_a_passage_that_begins_with_a_comment_is_cited_by_its_lines():
    ((_, first, last),) = read("a.tex", "% remark\n% more\ntext\n")
    assert (first, last) == (3, 3)


JATS = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS//EN" "x.dtd" [ <!ENTITY a "b"> ]>
<article><body><sec id="s1"><title>Intro</title><p>Water is H<sub>2</sub>O.</p>
<!-- tapir -->
<p>Caf&#233;</p></sec></body></article>
"""


def test_tags_of_a_text_in_xml_are_no_words_and_move_no_line():
    ((text, first, last),) = read("a.xml", JATS)
    assert text.split() == ["Intro", "Water", "is", "H2O.", "Café"]
    assert (first, last) == (3, 5)
