import base64
import random

import pytest

from kebab.parse.blocks import find_blob_lines

BYTES = random.Random(1).randbytes(3_000)
BASE64 = base64.b64encode(BYTES).decode()
MINIFIED = "".join(f"function a{n}(b,c){{return b+c*{n}}};" for n in range(200))


@pytest.mark.parametrize(
    "line",
    [
        BASE64,
        BYTES.hex(),
        f"![logo](data:image/png;base64,{BASE64})",
        f"[image1]: <data:image/png;base64,{BASE64}>",
        f'<img src="data:image/svg+xml;base64,{BASE64}">',
        MINIFIED,
        '{"a":"b","c":[1,2,{"d":null}]},' * 100,
    ],
    ids=["base64", "hex", "image", "definition", "html", "javascript", "json"],
)
def test_encoded_and_minified_lines_are_found(line):
    assert find_blob_lines(f"text\n{line}\nmore") == {1}


def test_many_lines_of_base64_are_found():
    lines = [BASE64[at : at + 76] for at in range(0, 760, 76)]
    text = "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----"])
    assert find_blob_lines(text) == set(range(1, 11))


def test_lines_behind_quote_marks_are_found_too():
    lines = [f"> {BASE64[at : at + 76]}" for at in range(0, 760, 76)]
    assert find_blob_lines("\n".join(lines)) == set(range(10))


@pytest.mark.parametrize(
    "line",
    [
        "All happy families are alike; each unhappy family is unhappy in its own way. " * 100,
        "한국어로 쓴 아주 긴 문단은 띄어쓰기가 적어도 글이다." * 200,
        "日本語の長い段落には空白がない。" * 300,
        "a" * 5_000,
        "abc/def_" * 500,
        "| " + "cell | " * 2_000,
        "https://example.org/?q=" + "%ED%95%9C%EA%B8%80" * 60,
        "word," * 2_000,
        "0123456789" * 3,
    ],
    ids=[
        "prose",
        "Korean",
        "Japanese",
        "one letter",
        "paths",
        "table",
        "URL",
        "words",
        "short",
    ],
)
def test_text_is_no_data(line):
    assert find_blob_lines(f"{line}\n{line}") == set()


def test_a_line_that_is_mostly_text_is_kept():
    assert find_blob_lines(f"{'Some words. ' * 50}{BASE64[:400]}") == set()


def test_a_few_lines_of_base64_are_kept():
    lines = [BASE64[at : at + 76] for at in range(0, 380, 76)]
    assert find_blob_lines("\n".join(lines)) == set()


@pytest.mark.timeout(10)
@pytest.mark.parametrize("part", ["data:", "%41", "a=", "=" * 9, "{}", "> ", "A1b2C3d4"])
def test_long_lines_take_linear_time(part):
    find_blob_lines(part * (4_000_000 // len(part)))
    find_blob_lines(f"{part}\n" * 200_000)
