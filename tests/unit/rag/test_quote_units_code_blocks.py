import pytest

from kebab.rag.quote_units import find_code_blocks


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


@pytest.mark.parametrize(
    ("info", "language"),
    [
        ("python title='a.py'", "python"),
        ("{code-block} console", "console"),
        ("{.toml}", ""),
        ("c++", "c++"),
        ("", ""),
    ],
)
def test_the_language_is_the_first_word(info, language):
    (one,) = find_code_blocks(f"```{info}\nx\n```")
    assert one.language == language


def test_a_directive_for_prose_and_an_open_fence_are_no_code():
    assert read("```{note}\nRead this.\n```") == []
    assert read("```sh\nx") == []


def test_code_of_restructuredtext_is_found():
    text = "Text.\n\n.. code-block:: python\n   :linenos:\n\n   import x\n\n   x()\n\nThe end."
    block = ".. code-block:: python\n   :linenos:\n\n   import x\n\n   x()"
    assert read(text) == [(block, "python", "import x\n\nx()")]
    assert read("Run it::\n\n    a\n      b\n\nThe end.") == [("    a\n      b", "", "a\n  b")]


def test_two_blocks_are_two():
    assert [code for *_, code in read("```\na\n```\n```\nb\n```")] == ["a", "b"]


def test_options_of_a_directive_are_no_code():
    assert read("```{code-block} python\n:caption: a.py\n\nx = 1\n```")[0][2] == "x = 1"


def test_an_example_directive_in_another_format_is_code():
    text = "```{eval-rst}\n.. click:example::\n\n    run()\n\nMore.\n```"
    assert [code for *_, code in read(text)] == ["run()"]


def test_the_text_of_a_note_is_no_code():
    assert read("Text.\n\n.. note::\n\n    Read this first.\n") == []
