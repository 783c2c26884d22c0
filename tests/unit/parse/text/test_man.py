"""Pages of the manual with the macros of man and of mdoc."""

from pathlib import Path

import pytest

from kebab.parse.text.man import ManParser

SAMPLES = Path("samples/formats")


def parse(text: str) -> str:
    return ManParser().parse(text.encode(), "a.1").text


def test_a_page_of_man_is_read_as_a_terminal_shows_it():
    document = ManParser().parse((SAMPLES / "mendnet.1").read_bytes(), "x.1")
    assert (document.title, document.metadata.date) == ("mendnet(1)", "2024-05-04")
    assert document.text == (
        "# NAME\n\nmendnet - mend a herring net\n\n"
        "# SYNOPSIS\n\nmendnet [--twine=COLOUR] net...\n\n"
        "# DESCRIPTION\n\nMends each net with the twine that “the store” has.\n\n"
        "-t, --twine=COLOUR\nUse twine of this colour.\n\n"
        "•\nOne knot per mesh.\n\n"
        "## Examples\n\n```\nmendnet --twine=green net.1\n  # two spaces\n```\n\n"
        "# SEE ALSO\n\nknot(7)"
    )


def test_a_page_of_mdoc_is_read_as_a_terminal_shows_it():
    document = ManParser().parse((SAMPLES / "tidetable.8").read_bytes(), "tidetable.8")
    assert (document.title, document.metadata.date) == ("tidetable(8)", "2024-05-04")
    assert document.text == (
        "# NAME\n\ntidetable print the tides of a harbour\n\n"
        "# SYNOPSIS\n\ntidetable -dn -p port harbour ...\n\n"
        "# DESCRIPTION\n\ntidetable prints the tides high and low, as the almanac says.\n\n"
        "-p port\nAsk the server at port.\n\n"
        "# SEE ALSO\n\nmendnet(1), cron(8)"
    )


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a\\(emb \\[u00E9] \\[:u] \\*(lqq\\*(rq", "a—b é ü “q”"),
        ("\\f(CWcode\\fP \\s+2big\\s0 \\&.x \\e", "code big .x \\"),
        ("shown\n.ie n yes\n.if t paper\n.if n \\{\ntoo\n.\\}\nafter", "shown yes too after"),
        ('.B "two words" "a""b"', 'two words a"b'),
        ("one\n.br\ntwo", "one\ntwo"),
        ('.ig\nhidden\n..\nshown \\" comment', "shown"),
        (".UR http://x\nsite\n.UE", "http://x site"),
        (".Unknown words", ""),
    ],
)
def test_requests_and_escapes_are_read(source, text):
    assert parse(source) == text


@pytest.mark.parametrize(
    "source",
    [
        ".TP\n" * 100_000 + "end",
        ".ds a xxxxxxxx\n" + ".ds a \\*a\\*a\n" * 1_000 + "\\*a",
        '.B "' + '""' * 500_000,
        "\\[" * 500_000 + "end",
        ".if " * 300_000 + "\nend",
    ],
)
def test_hostile_pages_cost_little(source):
    assert len(parse(source)) <= len(source)


def test_empty_names_of_fonts_end_them():
    assert (
        parse(".TH A 1\n.SH NAME\n\\f[B]net\\f[] and \\m[red]red\\m[]\n") == "# NAME\n\nnet and red"
    )


def test_examples_and_functions_of_mdoc_are_text():
    text = parse(".Sh EXAMPLES\n.Dl $ mend net\n.Pp\n.Fo open\n.Fa path\n.Fc\n")
    assert text == "# EXAMPLES\n\n$ mend net\n\nopen path"
