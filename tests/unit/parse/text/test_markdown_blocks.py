import json
from pathlib import Path

import pytest

from kebab.core.documents import BlockKind
from kebab.parse.text import markdown_noise
from kebab.parse.text.markdown import MarkdownParser, read_body
from kebab.parse.text.markdown_noise import find_noise_lines, has_visible_text


def kinds(body):
    return [(str(span.kind), span.first, span.last) for span in read_body(body).spans]


def test_tabs_behind_a_fence_close_it():
    assert kinds("```\na\n```\t\n\n# H\n") == [("code", 0, 3), ("heading", 4, 5)]


def test_a_rule_with_another_number_of_columns_makes_no_table():
    assert kinds("text\na | b\n--|--|--\n1 | 2\n") == [("paragraph", 0, 4)]


@pytest.mark.parametrize(
    ("body", "links"),
    [
        ("[[note]] [[a b|shown]] ![[embed.png]]", ["note", "a b", "embed.png"]),
        ("[[note#heading]] [[note#^block]] [[#here]]", ["note"]),
        ("| a |\n|---|\n| [[x\\|y]] |", ["x"]),
        (
            "[x](a%20b.md#part) ![](<c d.png>) [y][known]\n\n[known]: ../k.md",
            ["a b.md", "c d.png", "../k.md"],
        ),
        ("[x](https://a.b/c) <mailto:x@y.z> [y](#here) [z](//host/x)", []),
        ("[[1]](other.md) [[2]](https://a.b)", ["other.md"]),
        ("`[[code]]`\n\n```\n[[code]]\n```\n", []),
        ("- > [[deep]]", ["deep"]),
        ("[메모](%EB%A9%94%EB%AA%A8.md)", ["메모.md"]),
    ],
)
def test_links_to_other_files_are_found(body, links):
    assert read_body(body).links == links


class PanicException(BaseException):
    """What native code raises when it fails, by the same name."""


@pytest.mark.parametrize(
    ("raised", "seen"),
    [(PanicException("x"), RuntimeError), (KeyboardInterrupt("x"), KeyboardInterrupt)],
)
def test_a_panic_of_the_library_becomes_an_error_and_an_interrupt_stays(monkeypatch, raised, seen):
    class Reader:
        def events_with_range(self, body, *, merge_text):
            raise raised

    monkeypatch.setattr(markdown_noise, "_get_reader", Reader)
    with pytest.raises(seen, match="x"):
        read_body("x")


def test_setext_headings_have_levels():
    spans = read_body("a\nb\n===\n\nc\n---\n").spans
    assert [(span.level, span.label) for span in spans] == [(1, "a b"), (2, "c")]
    assert {span.kind for span in spans} == {BlockKind.HEADING}


@pytest.mark.processor_s(20)
@pytest.mark.parametrize(
    "hostile",
    [
        ">" * 5_000 + " a",
        (">" * 200 + " a\n") * 500,
        "[" * 50_000,
        "".join("  " * depth + "- a\n" for depth in range(40)),
        "<!--" * 20_000 + "-->",
        "`a" * 50_000,
        "".join(f"[{n}]: http://x/{n}\n" for n in range(20_000)),
        "- item\n" * 20_000,
        "```" + "\t" * 50_000 + "x\n```",
        "|-\t" * 50_000,
        "a\n|a\n" + "|-\n" * 50_000,
        "[[" * 50_000,
        "> - " * 5_000 + "a",
        "|a" * 2_000 + "|\n" + "|-" * 2_000 + "|\n" + ("|x" * 2_000 + "|\n") * 20,
    ],
)
def test_hostile_structure_is_read_and_the_heading_behind_it_found(hostile):
    spans = read_body(f"{hostile}\n\n# Behind\n").spans
    assert spans[-1].label == "Behind"


@pytest.mark.parametrize(
    ("source", "label"),
    [
        ("plain", "plain"),
        ("*em* **strong** `code`", "em strong code"),
        ("a [link](http://x) b", "a link b"),
        ("<b>bold</b>", "bold"),
        ("Title {#anchor}", "Title"),
        ('{{% heading "whatsnext" %}}', "whatsnext"),
        ("[[page]] and [[page|shown]]", "page and shown"),
        ("[[1]](http://x) source", "1 source"),
        ("[known] and [unknown]", "known and [unknown]"),
        ("trailing ##", "trailing"),
        ("", ""),
    ],
)
def test_a_label_is_what_a_reader_sees(source, label):
    first = read_body(f"# {source}\n\n[known]: http://x\n").spans[0]
    assert first.label == label


def show(body, **options):
    """Return the lines of a body that are not noise."""
    hidden = find_noise_lines(body, **options)
    return [line for number, line in enumerate(body.split("\n")) if number not in hidden]


@pytest.mark.parametrize(
    "noise",
    [
        "<!-- a comment -->",
        "  <!-- over\n\nlines -->",
        "{/* a comment */}",
        "%% a comment %%",
        "%%\na\n\ncomment\n%%",
        "%% over\nlines %%",
        "{{< note >}}",
        "  {{< figure\n  src=x.png >}}",
        "> {% include x.html %}",
        "<></>",
        "import Tabs from '@theme/Tabs';",
        'import "./styles.css"',
    ],
)
def test_lines_of_noise_are_found_and_their_neighbours_kept(noise):
    assert show(f"before\n\n{noise}\n\nafter") == ["before", "", "", "after"]


@pytest.mark.parametrize(
    "text",
    [
        "<!-- not closed",
        "<!-- a --> text",
        "%% not closed",
        "50%% of it\nand 20%%",
        "%%time\ncode\n%% x %% y",
        "{{< note >}} Mind the gap {{< /note >}}",
        '{{< figure src="x.png" caption="A map" >}}',
        "{{ site.title }}",
        '<TabItem label="With npm">',
        "<Tabs> text </Tabs>",
        "<YOUR_NAME>",
        "<div>",
        "import the data from the server",
        "import numpy",
        "export const a = 1;",
        "{ a: 1 }",
        "{{< a\n\n    in code >}}",
    ],
)
def test_text_is_kept(text):
    assert show(f"before\n\n{text}\n\nafter") == ["before", "", *text.split("\n"), "", "after"]


@pytest.mark.parametrize(
    ("html", "visible"),
    [
        ("<div>\n</div>", False),
        ("<div>text</div>", True),
        ("text", True),
        ("<br>", False),
        ("<!-- text -->", False),
        ("<!-- a --><p>b</p>", True),
        ("<script>\nvar text;\n</script>", False),
        ("<STYLE>p {}</STYLE>\n", False),
        ('<img src="a.png">', False),
        ('<img src="a.png" alt="A map">', True),
        ('<img src="a.png" alt="">', False),
        ("<summary>More</summary>", True),
        ("<!-- not closed", True),
        ("<script>not closed", True),
    ],
)
def test_html_shows_text_outside_tags_and_in_a_few_attributes(html, visible):
    assert has_visible_text(html) is visible


CASES = Path(__file__).parents[3] / "cases" / "markdown"


@pytest.mark.parametrize("note", sorted(CASES.glob("*.md")), ids=lambda note: note.stem)
def test_a_note_is_parsed_as_its_case_expects(note):
    document = MarkdownParser().parse(note.read_bytes(), note.name)

    def line(at):
        return document.text.count("\n", 0, at) + 1

    found = {
        "title": document.title,
        "tags": list(document.metadata.tags),
        "lang": document.lang,
        "warnings": list(document.warnings),
        "blocks": [
            [block.kind.value, line(block.start), line(block.end), block.level, block.label]
            for block in document.blocks
        ],
    }
    assert found == json.loads(note.with_suffix(".json").read_text("utf-8"))


def parse(text, path="a.md"):
    return MarkdownParser().parse(text.encode(), path)


def list_texts(document):
    return [document.text[block.start : block.end] for block in document.blocks]


def test_noise_is_in_no_block_and_lines_stay_those_of_the_file():
    text = (
        "# A\n\n<!-- c -->\n\n{{< note >}}\nMind\n{{< /note >}}\n\n<div>\n</div>\n\n%% x %%\nend\n"
    )
    document = parse(text)
    assert document.text == text
    assert list_texts(document) == ["# A", "Mind", "end"]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        (
            "#work and #work/project-x, #2024/plan #한글",
            ["work", "work/project-x", "2024/plan", "한글"],
        ),
        ("- [ ] call #Jane_Doe\n> quote #q", ["Jane_Doe", "q"]),
        ("#123 #1a2b3c x#no http://a.b/#no (#no) \\#no &#35;no", []),
        ("`#no`\n\n```\n#no\n```\n\n# no #no\n\n<p>#no</p>\n", []),
        ("*#no* **x**#no ##no", []),
        ("%% #no %%\n\n#yes", ["yes"]),
        ("about #[[deep work]] and [[no]]", ["deep work"]),
        ("---\ntags: [front]\n---\n#inline\n", ["front", "inline"]),
        ("tags:: page, other\n\n- #inline\n", ["page", "other", "inline"]),
    ],
)
def test_inline_tags_are_added_to_those_of_the_note(text, tags):
    assert list(parse(text).metadata.tags) == tags


def test_links_in_properties_and_in_html_are_links():
    text = (
        '---\nup: "[[Target|T]]"\nsee: [[Bare]]\nmore: "[x](sub/y.md)"\n---\n'
        "See <a href='z.md#a'>z</a> and `<a href='code.md'>`.\n\n"
        '<div><a href="w.md">w</a></div>\n'
    )
    assert parse(text).links == ("Target", "Bare", "sub/y.md", "z.md", "w.md")
