import time

import pytest

from kebab.cli.render.excerpt import clean_markdown


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ('[text](https://x.example/a_(b) "title")', "text"),
        ("[`code`](/docs#part) and [a][1]", "`code` and a"),
        ("[two\nlines](/docs)", "two\nlines"),
        ("[cut off](https://x.exam", "cut off"),
        ("[1]: https://x.example\ntext", "text"),
        ("<https://x.example> <name>", "https://x.example <name>"),
        ("![a picture](p.png)", "a picture"),
        ("![ci](https://img.shields.io/x.svg) text", " text"),
        ("[![build](b.svg)](https://ci.example) text", " text"),
        ("a <!-- hidden\ncomment --> b <!-- cut", "a  b "),
        ("{{< note >}}\nx\n{{% /note %}}", "x"),
        ('a {{< glossary_tooltip text="Pod" term_id="pod" >}} runs', "a Pod runs"),
        ("a {{< cut", "a "),
        ("{{ .Values.image }}", "{{ .Values.image }}"),
        ("[[a|b]] [[c]] [[Note#Part]] ![[d.png]]", "b c Note > Part d.png"),
        ("| [[a\\|b]] |", "| b |"),
        ("if [[ -f x ]]; then", "if [[ -f x ]]; then"),
        ("- [x] done\n- [ ] open", "- [x] done\n- [ ] open"),
        ("a<br/>b <b>c</b> <td>d</td>", "a\nb c  d "),
        ("## Head {#id .class}", "## Head"),
        ("> [!note]- Title\n> text", "> **Note: Title**\\\n> text"),
        ("> [!tip]\n> text", "> **Tip**\\\n> text"),
        ("> [!tip] cut", "> **Tip: cut**"),
        ("`[a](b)` and `<!-- c -->`", "`[a](b)` and `<!-- c -->`"),
        ("```\n[a](b)\n<br>\n```", "```\n[a](b)\n<br>\n```"),
        ("```\n[a](b)", "```\n[a](b)"),
        ("plain", "plain"),
    ],
)
def test_noise_is_removed_and_code_stays(text, clean):
    assert clean_markdown(text) == clean


def test_a_callout_in_a_pipe_has_no_asterisks():
    assert clean_markdown("> [!note] Title\n> text", emphasis=False) == "> Note: Title\n> text"


@pytest.mark.parametrize(
    "text", ["[" * 5000, "[![a](" * 2000, "`" * 5001, "{{<" * 3000, "<!--" * 3000, "[[a" * 3000]
)
def test_hostile_text_takes_no_time(text):
    started = time.process_time()

    clean_markdown(text + "[")

    assert time.process_time() - started < 0.5
