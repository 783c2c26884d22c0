from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.documents import BlockKind, Metadata
from kebab.errors.catalog import ParseFailed
from kebab.parse.blocks import TextBuilder
from kebab.parse.web import html
from kebab.parse.web.html import (
    HtmlParser,
    Walker,
    add_fragment,
    find_target,
)
from kebab.parse.web.html_page import DROP, Page


@pytest.mark.parametrize(
    ("attributes", "target"),
    [
        ('href="notes/a.html"', "notes/a.html"),
        ('href="a%20b.md?plain=1"', "a b.md"),
        ('href="a&amp;b.md"', "a&b.md"),
        ('href="#part"', ""),
        ('data-href="a.md"', ""),
    ],
)
def test_links_to_files_are_found(attributes, target):
    assert find_target(f"a {attributes}") == target


SAMPLES = Path("samples/formats")
WORDS = ["lamp", "oil", "등대", "caf\u00e9"]
TAG_NAMES = (
    "p div ul ol li table tr td th b h1 h3 pre code dl dt dd blockquote section span details"
    " figure br"
)
TAGS = st.sampled_from(TAG_NAMES.split())
PIECES = st.lists(st.tuples(TAGS, st.booleans(), st.sampled_from(WORDS)), max_size=40)


def parse(data, path="notes/a.html"):
    return HtmlParser().parse(data if isinstance(data, bytes) else data.encode(), path)


def parse_sample(name):
    return parse((SAMPLES / name).read_bytes(), name)


def test_a_page_of_pandoc_is_read():
    document = parse_sample("harbour-pandoc.html")

    assert document.metadata == Metadata(
        title="Harbour lamps", lang="en", authors=("Nora Lind",), date="2024-03-05"
    )
    assert document.links == ("tides.html", "log/2024.md")
    assert "1. Fill the tank to the red line.\n2. Trim the wick:\n  - short in" in document.text
    assert "| North pier | 2.4 l | Aino |" in document.text
    assert "```python\ndef refill(lamp):\n    return" in document.text
    assert "> A dark lamp is a lost boat." in document.text
    assert "Fog bell\n: Rings four times" in document.text


def test_a_saved_page_has_its_text_and_nothing_else():
    document = parse_sample("kimchi-chromium.html")

    assert document.title == "김치냉장고 온도 설정"
    assert document.metadata.tags == ("김치", "냉장고")
    assert document.metadata.date == "2024-11-02T00:30:00Z"
    assert "영하 1.5도에서" in document.text
    for junk in ("쿠키", "공유", "숨은", "저작권", "홈", "\u00b6"):
        assert junk not in document.text


def test_an_export_of_hangul_has_words_headings_and_tables():
    document = parse_sample("lighthouse-hangul-cp949.html")

    assert document.encoding == "cp949"
    assert document.lang == "ko"
    assert document.text.startswith("점검 결과\n\n동해 등대의")
    assert "닦는다. 숨뱉기 똠방각하." in document.text
    assert "\n전구 교체" in document.text
    assert "| 속초 | 3월 9일 |" in document.text


def test_a_page_that_the_library_refuses_is_damaged(monkeypatch):
    def refuse(text):
        raise ValueError(text)

    monkeypatch.setattr(html, "read_parts", refuse)
    with pytest.raises(ParseFailed) as refusal:
        parse("too long")
    assert refusal.value.cause == "damaged: too long"


def test_a_page_of_great_depth_is_refused_and_one_of_open_elements_is_read():
    with pytest.raises(ParseFailed, match="more than 5,000 levels deep"):
        parse("<div>" * 100_000 + "deep")
    assert parse("<p>a<br>" * 6_000 + "<svg>" + "<use/>" * 6_000).text


@given(pieces=PIECES)
def test_every_word_of_a_page_without_a_main_element_is_kept(pieces):
    page = "".join(f"<{'/' if end else ''}{tag}>\n{word} " for tag, end, word in pieces)
    words = [word for _, _, word in pieces]
    text = parse(f"<meta charset=utf-8><body>{page}").text
    found = "".join(char if char.isalpha() else " " for char in text).split()

    assert sorted(found) == sorted(words)


def test_a_fragment_is_read_whole():
    builder = TextBuilder()

    add_fragment(builder, "<nav>a</nav><p>b<p style='display:none'>c")
    assert builder.build("a").text == "a\n\nb"


def build(html):
    builder = TextBuilder()
    Walker(builder).walk(Page(html).extract_body())
    return builder.build("a.html")


def write(html):
    return build(html).text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h1>A</h1><p>b", "# A\n\nb"),
        ("<h6>A</h6><h2>B</h2>", "###### A\n\n## B"),
        ("<h1><span>A</span> <code>b</code><a class=headerlink>\u00b6</a></h1>", "# A b"),
        ("<h1><div>A</div><div>b</div></h1>", "# A b"),
        ("<p>a<b>b</b>c <i>d</i></p>", "abc d"),
        ("a<p>b</p>c<div>d</div>e", "a\n\nb\n\nc\n\nd\n\ne"),
        ("a<br>b<br><br>c", "a\nb\n\nc"),
        ("등대<b>의</b> 렌즈", "등대의 렌즈"),
        ("use <code>x &lt; y</code>", "use `x < y`"),
        ("<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>", "漢字"),
        ("say <q>yes</q>", 'say "yes"'),
        ("<img src=a.png alt='A lamp'>", "A lamp"),
        ("<figure><img src=a><figcaption>A lamp</figcaption></figure>", "A lamp"),
        ("<details><summary>More</summary><p>Text</p></details>", "More\n\nText"),
        ("<hr>a<hr>", "a"),
        ("<xml>&amp;lt;", "&lt;"),
    ],
)
def test_running_text_is_what_a_browser_shows(html, text):
    assert write(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ul><li>a<li>b</ul>", "- a\n- b"),
        ("<ol><li>a<ul><li>b</ul><li>c</ol>", "1. a\n  - b\n2. c"),
        ("<ol start=3><li>a</ol>", "3. a"),
        ("<ul><li><p>a</p><p>b</p></li><li>c</ul>", "- a b\n- c"),
        ("<ul><li>a<pre>x</pre>b</li><li>c</ul>", "- a\n\n```\nx\n```\n\nb\n\n- c"),
        (
            "<ul><li><input type=checkbox checked>a<li><input type=checkbox>b</ul>",
            "- [x] a\n- [ ] b",
        ),
        ("<ul><li>a<blockquote>b</blockquote></ul>c", "- a b\n\nc"),
        ("<dl><dt>a<dt>b<dd>c<dd>d</dl>", "a\nb\n: c\n\nd"),
        ("<dl><dt>a<dd><ul><li>b</ul></dl>", "a\n\n- b"),
        ("<blockquote>a<p>b</p></blockquote>c", "> a\n> \n> b\n\nc"),
        ("<blockquote>a<blockquote>b</blockquote></blockquote>", "> a\n> \n> b"),
        ("<blockquote><ul><li>b</ul></blockquote>", "- b"),
    ],
)
def test_lists_terms_and_quotations_keep_their_structure(html, text):
    assert write(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            "<table><caption>Lamps</caption><tr><th>a<th>b<tr><td>1<br>2<td>3|4</table>",
            "Lamps\n\n| a | b |\n|---|---|\n| 1 2 | 3\\|4 |",
        ),
        ("<table><tr><td>a<tr><td>b</table>", "a\n\nb"),
        ("<table><tr><td>a<td><table><tr><td>1<td>2</table></table>", "a\n\n| 1 | 2 |"),
        ("<table role=presentation><tr><td>a<td>b</table>", "a b"),
        ("<table><tr><td>a<td><pre>x\ny</pre></table>", "a\n\n```\nx\ny\n```"),
        (
            "<table><tr><th>a<th>b<tr><td><pre>x</pre><td>c</table>",
            "| a | b |\n|---|---|\n| `x` | c |",
        ),
        ("<table><tr><td>a<td><h2>B</h2></table>c", "a\n\n## B\n\nc"),
        ("<table><tr><td>a<td><ul><li>b<li>c</ul></table>", "| a | b c |"),
    ],
)
def test_tables_of_data_are_tables_and_others_arrange_the_page(html, text):
    assert write(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<pre>a\n  b &lt; c</pre>d", "```\na\n  b < c\n```\n\nd"),
        ("<pre><code class=language-py>a</code></pre>", "```py\na\n```"),
        ("<div class=highlight-c><div class=highlight><pre>a</pre></div></div>", "```c\na\n```"),
        ("<pre><code>a</code><code>b</code></pre>", "```\na\nb\n```"),
        ("<pre><span class=lineno>1</span>a<br>b<div>c</div>d</pre>", "```\na\nbc\nd\n```"),
        ("<pre>a<button>Copy</button></pre>", "```\na\n```"),
    ],
)
def test_preformatted_text_is_code(html, text):
    assert write(html) == text


def test_preformatted_prose_is_paragraphs():
    prose = "The keeper lights the lamp at dusk, and puts it out at dawn.\n\n" * 30
    document = build(f"<pre>{prose}</pre>")

    assert {block.kind for block in document.blocks} == {BlockKind.PARAGRAPH}


@pytest.mark.parametrize(
    "junk",
    [
        "<script>x</script>",
        "<style>x</style>",
        "<noscript>x</noscript>",
        "<template><p>x</p></template>",
        "<svg><title>x</title><g><path/></g></svg>",
        "<button>x</button>",
        "<select><option>x</select>",
        "<div class='a breadcrumb b'><div>x</div></div>",
        "<div id=CybotCookiebotDialog>x</div>",
        "<a class=skip-link href=#m>x</a>",
        "<div id=toc>x</div>",
        "<video>x</video>",
        f"<div {DROP}=''><div>x</div>x</div>",
        "<!-- x -->",
    ],
)
def test_what_is_no_content_is_left_out(junk):
    builder = TextBuilder()
    page = Page(f"<p>before {junk} after</p>")
    # `extract_body` takes marks away, which is tested with the page.
    Walker(builder).walk(page.extract_body(hidden=DROP not in junk))

    assert builder.build("a.html").text.split() == ["before", "after"]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<math><mi>x</mi><mo>=</mo></math>", "$x=$"),
        ("<m:math><m:msup><m:mi>x</m:mi><m:mn>2</m:mn></m:msup></m:math>", "$x^{2}$"),
        ("<math><mi>x</mi><annotation encoding=application/x-tex>x^2</annotation></math>", "$x^2$"),
        ("10<sup>-6</sup> m<sup>2</sup> H<sub>2</sub>O", "10⁻⁶ m² H₂O"),
        ("x<sup>n<sub>1</sub></sup> 1<sup>st</sup> ACME<sup>®</sup>", "x^(n₁) 1st ACME®"),
        ("word<sup><a href='#f'>1</a></sup> 2010<a href='#g'><sup>2</sup></a>", "word^1 2010^[2]"),
        ("word<a role=doc-noteref href='#f'>3</a> <a href='#s'>here</a>", "word^3 here"),
    ],
)
def test_raised_text_and_formulas_keep_their_meaning(markup, text):
    assert write(f"<p>is {markup}.</p>") == f"is {text}."


def test_code_keeps_raised_text():
    assert write("<pre>10<sup>5</sup></pre>") == "```\n10⁵\n```"


def test_texts_of_drawings_are_lines():
    drawing = (
        "<svg><title>no</title><g><text>Tr<tspan>im</tspan> the<tspan dy=1>lens</tspan></text>"
        "<text>at dusk</text></g><svg></svg><foreignObject><p>each day</p></foreignObject></svg>"
    )
    assert (
        write(f"<p>before {drawing} after</p>")
        == "before\n\nTrim the lens\nat dusk\n\neach day\n\nafter"
    )


def test_signatures_are_headings_below_the_last_heading():
    document = build(
        "<h2>json</h2><dl class=py><dt class='sig sig-object' id=json.dumps>dumps(obj)</dt>"
        "<dd>Serialise.<dl><dt class=sig id=x>skip</dt><dd>Keys</dd></dl></dd></dl><h2>next</h2>"
    )

    assert [(block.level, block.label) for block in document.blocks if block.level] == [
        (2, "json"),
        (3, "dumps(obj)"),
        (4, "skip"),
        (2, "next"),
    ]


def test_a_paragraph_can_be_the_title():
    assert write("<p class=MsoTitle>B</p><p class=c>C") == "# B\n\nC"


def test_a_heading_as_long_as_a_page_is_a_paragraph():
    assert write(f"<h1>{'word ' * 100}</h1>").startswith("word")


def test_the_tables_of_known_tags_stay_bounded():
    walker = Walker(TextBuilder())
    walker.walk("".join(f'<a id="{number}">x</a>' for number in range(10_000)))

    assert len(walker._known) <= 4_001


@pytest.mark.parametrize("html", ["", "<p>", "</table></ul></dl></blockquote>"])
def test_odd_pages_are_read(html):
    assert not write(html).strip()


@pytest.mark.parametrize("part", ["a<br>", "<li><p>a", "<p>a</p>"])
@pytest.mark.processor_s(3)
def test_a_long_paragraph_or_item_is_read_in_linear_time(part):
    write("<ul><li>" + part * 40_000)
