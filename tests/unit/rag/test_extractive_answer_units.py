import pytest

from kebab.rag.extractive_answer import (
    SentenceForm,
    classify_form,
    find_code_blocks,
    find_quote_units,
    is_short,
)
from kebab.text.sentences import LayoutKind
from tests.fakes.evidence import stored


def texts(note, **fields):
    chunk = stored(note, **fields)
    return [note[one.start : one.end] for one in find_quote_units(chunk, 0, len(note))]


def test_headings_labels_and_badges_are_left_out_beside_sentences():
    note = (
        "(serve-configure)=\n# Configure the whole server\n\n[![ci](a.svg)](b)\n\n"
        "| name | value |\n|---|---|\n\nThe server reads one file.\n"
    )
    assert texts(note) == ["The server reads one file."]


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("Is it on? Yes. It is on by default.", ["Is it on? Yes. It is on by default."]),
        (
            "Is it on? It is on by default. The server reads one file when it starts.",
            ["Is it on? It is on by default.", "The server reads one file when it starts."],
        ),
        ("It is on by default, always. Yes.", ["It is on by default, always. Yes."]),
        ("- port: 8080\n- host: all addresses", ["port: 8080\n- host: all addresses"]),
        ("はい。既定では有効になっています。", ["はい。既定では有効になっています。"]),
    ],
)
def test_a_short_sentence_is_extended_by_its_neighbour(note, expected):
    assert [one for one in texts(note) if one in expected] == expected
    assert not any(map(is_short, texts(note)))


def test_an_announcement_and_its_code_are_one_unit():
    note = (
        "Install it with this command:\n\n```sh\npip install x\n\nx\n```\n\nThen it is installed."
    )
    assert texts(note) == [
        "Install it with this command:\n\n```sh\npip install x\n\nx\n```",
        "Then it is installed.",
    ]


def test_an_announcement_takes_the_sentence_before_it_to_its_code():
    note = "You may want to create a demo. You would run:\n\n```\nnew demo\n```\n"
    assert texts(note)[-1] == note.strip()


def read(text):
    return [(text[one.start : one.end], one.language, one.code) for one in find_code_blocks(text)]


def test_a_fence_is_found_with_its_borders_and_its_language():
    fence = "```bash\npip install x\n\nx --init\n```"
    assert read(f"Install it:\n\n{fence}\n\nDone.") == [
        (fence, "bash", "pip install x\n\nx --init")
    ]


def test_code_of_a_list_item_is_dedented():
    text = "1. Run:\n   ~~~\n   a\n     b\n   ~~~\n"
    assert read(text) == [("~~~\n   a\n     b\n   ~~~", "", "a\n  b")]


def test_a_directive_for_prose_and_an_open_fence_are_no_code():
    assert read("```{note}\nRead this.\n```") == []
    assert read("```sh\nx") == []


def test_code_of_restructuredtext_is_found():
    text = "Text.\n\n.. code-block:: python\n   :linenos:\n\n   import x\n\n   x()\n\nThe end."
    block = ".. code-block:: python\n   :linenos:\n\n   import x\n\n   x()"
    assert read(text) == [(block, "python", "import x\n\nx()")]
    assert read("Run it::\n\n    a\n      b\n\nThe end.") == [("    a\n      b", "", "a\n  b")]


def test_an_example_directive_in_another_format_is_code():
    text = "```{eval-rst}\n.. click:example::\n\n    run()\n\nMore.\n```"
    assert [code for *_, code in read(text)] == ["run()"]


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
