import pytest

from kebab.parse.markdown import find_noise_lines, has_visible_text, hide_lines


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
        "{{% /tab %}}",
        "  {{< figure\n  src=x.png >}}",
        "> {% include x.html %}",
        "{% raw %}{% endraw %}",
        "{{< a >}} {{< b >}}",
        "<Tabs>",
        "</TabItem>",
        '<TabItem value="npm">',
        "<Foo.Bar\n  baz={1}\n/>",
        "<></>",
        "import Tabs from '@theme/Tabs';",
        "import {\n  A,\n  B,\n} from 'x'",
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
    ],
)
def test_text_is_kept(text):
    assert show(f"before\n\n{text}\n\nafter") == ["before", "", *text.split("\n"), "", "after"]


@pytest.mark.parametrize(
    "noise", ["<!-- c -->", "%% c %%", "{{< note >}}", "<Tabs>", "import a from 'b'"]
)
@pytest.mark.parametrize("code", ["```\n{}\n```", "- a\n\n  ~~~\n  {}\n  ~~~"])
def test_code_is_kept_as_it_is(noise, code):
    body = code.format(noise)
    assert show(body) == body.split("\n")


def test_exports_are_noise_in_mdx_only():
    body = "export const meta = {\n  a: 1,\n};\n\ntext"
    assert show(body, is_mdx=True) == ["", "text"]
    assert show(body) == body.split("\n")


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


def test_hidden_lines_become_blank_of_the_same_length():
    assert hide_lines("a\n한글\nc", {1}) == "a\n  \nc"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "part",
    [
        *("<!--\n", "{/*\n", "%% \n", "%%\n", "{{< \n", "{{<a>}}", "{% ", "<Aa \n", "<Aa>", "<>"),
        *("> ", "import a\n", "import {a,\n", "export const a\n", "<script>\n", "<a ", "alt="),
    ],
)
def test_hostile_noise_takes_linear_time(part):
    body = part * (1_000_000 // len(part))
    for text in (body, f"{body}-->", f"{body}\n\n"):
        find_noise_lines(text, is_mdx=True)
        has_visible_text(text)
