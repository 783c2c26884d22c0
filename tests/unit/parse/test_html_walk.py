import time

import pytest

from kebab.core.documents import BlockKind
from kebab.parse.blocks import TextBuilder
from kebab.parse.html import Walker
from kebab.parse.html_page import DROP, Page


def build(html, classes=None):
    builder = TextBuilder()
    Walker(builder, classes).walk(Page(html).extract_body())
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
        (
            "<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>",
            "漢字",
        ),
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
        "<textarea>x</textarea>",
        "<dialog><p>x</p></dialog>",
        "<div class='a breadcrumb b'><div>x</div></div>",
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
    Walker(builder).walk(page.extract_whole() if DROP in junk else page.extract_body())

    assert builder.build("a.html").text.split() == ["before", "after"]


def test_an_open_dialog_is_read():
    assert write("<dialog open>a</dialog>") == "a"


def test_formulas_are_tex_or_characters():
    assert write("<p>is <math><mi>x</mi><mo>=</mo></math>.</p>") == "is x=."
    tex = "<math><mi>x</mi><annotation encoding=application/x-tex>x^2</annotation></math>"
    assert write(f"<p>is {tex}.</p>") == "is $x^2$."


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


def test_styles_of_paragraphs_can_be_headings():
    document = build("<p class='a H2'>A</p><p class=MsoTitle>B</p><p class=c>C", {"H2": 2})

    assert document.text == "## A\n\n# B\n\nC"


def test_a_heading_as_long_as_a_page_is_a_paragraph():
    assert write(f"<h1>{'word ' * 100}</h1>").startswith("word")


def test_links_to_files_are_collected():
    walker = Walker(TextBuilder())
    walker.walk('<p><a href="a.html#x">a</a><a href="http://x/">b</a><a href="a.html">a</a></p>')

    assert walker.links == ("a.html",)
    assert walker.first_heading == ""


def test_the_tables_of_known_tags_stay_bounded():
    walker = Walker(TextBuilder())
    walker.walk("".join(f'<a id="{number}">x</a>' for number in range(10_000)))

    assert len(walker._known) <= 4_001


@pytest.mark.parametrize("html", ["", "<p>", "</p>", "<td>", "</table></ul></dl></blockquote>"])
def test_odd_pages_are_read(html):
    assert not write(html).strip()


@pytest.mark.parametrize("part", ["a<br>", "<li><p>a", "<p>a</p>"])
def test_a_long_paragraph_or_item_is_read_in_linear_time(part):
    begun = time.process_time()
    write("<ul><li>" + part * 100_000)

    assert time.process_time() - begun < 5
