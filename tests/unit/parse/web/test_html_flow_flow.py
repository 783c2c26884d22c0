import pytest

from kebab.parse.web.html_flow import (
    CODE,
    clean_line,
    find_alternative,
    find_code_language,
    is_prose,
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (" a\n  b ", "a b"),
        ("a&nbsp;b &lt;c&gt; &amp;amp;", "a b <c> &amp;"),
        ("ha\u00adlf zero\u200bwidth", "half zerowidth"),
        ("등대\n렌즈", "등대 렌즈"),
        (f"{CODE}a b{CODE} {CODE}c{CODE}{CODE}d{CODE}", "`a b` `cd`"),
    ],
)
def test_a_line_is_what_a_browser_shows(text, line):
    assert clean_line(text) == line


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ('img src="a.png" alt="A lamp &amp; a boat"', "A lamp &amp; a boat"),
        ('img alt="photo01.jpg"', ""),
        ('img alt=""', ""),
        ("img", ""),
    ],
)
def test_images_have_their_alternative_text(tag, text):
    assert find_alternative(tag) == text


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ('code class="language-c++ hljs"', "c++"),
        ('div class="highlight-python3 notranslate"', "python3"),
        ('div class="highlight highlight-source-shell"', "shell"),
        ('pre class="sourceCode haskell"', "haskell"),
        ('pre class="brush: js"', "js"),
        ('pre class="rust rust-example"', "rust"),
        ('pre class="language-plaintext"', ""),
        ('pre class="x"', ""),
        ("pre", ""),
    ],
)
def test_the_language_of_code_is_in_its_classes(tag, language):
    assert find_code_language(tag) == language


def test_preformatted_paragraphs_of_words_are_prose():
    assert is_prose("A lamp burns at night, and the keeper sleeps.\n\n" * 40)
    assert not is_prose("x = {1: [2, 3]}; f(x) => y != z;\n\n" * 40)
    assert not is_prose("short\n\n" * 4)
