import pytest

from kebab.rag.quote_units import SentenceForm, classify_form, is_short
from kebab.text.sentences import LayoutKind


@pytest.mark.parametrize(
    "text",
    [
        "(serve-configure-deployment)=",
        ".. _serve-configure:",
        ".. toctree:: index guide/first guide/second",
        ":maxdepth: 2",
        "{#configuring-the-server}",
        "{: .no_toc .text-delta }",
        '<a name="configuring-the-server"></a>',
        '<img src="logo.png" width="400"/>',
        "[![Build status](https://ci.example.org/badge.svg)](https://ci.example.org/main)",
        "![A diagram of the cluster](images/cluster.svg)",
        "[Install](install.md) | [Configure](configure.md) | [Upgrade](upgrade.md)",
        "[guide]: https://example.org/guide 'The guide'",
        "https://example.org/a/very/long/address/of/a/page",
        "```{toctree}",
    ],
)
def test_labels_badges_images_and_links_alone_say_nothing(text):
    assert classify_form(LayoutKind.PROSE, text) is SentenceForm.EMPTY


@pytest.mark.parametrize(
    "text",
    [
        "The server reads [its settings](settings.md) when it starts.",
        "Der Server liest die Datei (siehe unten).",
        "Set `--port` to the port, e.g. `8080`.",
        "서버는 시작할 때 설정을 읽는다.",
        "[`serve`](serve.md) starts the server on the port.",
    ],
)
def test_sentences_stand_alone(text):
    assert classify_form(LayoutKind.PROSE, text) is SentenceForm.GOOD


@pytest.mark.parametrize("text", ["What is it?", "Run this command:", "何ですか？", "次のとおり："])
def test_questions_and_announcements_are_poor(text):
    assert classify_form(LayoutKind.PROSE, text) is SentenceForm.POOR


def test_headings_are_told_from_sentences_and_code_counts_as_it_is():
    assert classify_form(LayoutKind.HEADING, "Restore a snapshot") is SentenceForm.HEADING
    assert classify_form(LayoutKind.CODE, "curl https://example.org") is SentenceForm.GOOD
    assert classify_form(LayoutKind.CODE, ".. click:run::") is SentenceForm.EMPTY


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("port 8080", True),
        ("It is the default value.", True),
        ("It is the default value now.", False),
        ("既定値は八〇八〇です。", True),
        ("既定のポートは八〇八〇番です。", False),
        ("기본 포트는 팔천팔십이다.", False),
        ("See [a](https://example.org/very/long/address).", True),
    ],
)
def test_the_shortest_quote_depends_on_the_width_of_its_script(text, short):
    assert is_short(text) is short


def test_the_row_of_a_table_may_begin_with_a_link():
    row = "| [`manylinux-image`](https://example.org/images) | `2_28` |"
    assert classify_form(LayoutKind.ROW, row) is SentenceForm.GOOD
    assert classify_form(LayoutKind.ROW, "| [a](b) | [c](d) |") is SentenceForm.EMPTY


@pytest.mark.parametrize("text", ["!!! note", '??? example "An example of it"', '=== "Linux"'])
def test_the_border_of_a_note_says_nothing(text):
    assert classify_form(LayoutKind.PROSE, text) is SentenceForm.EMPTY


def test_the_labels_of_links_count_for_the_length():
    assert not is_short("See [the docs about the answers file](a.md).")
