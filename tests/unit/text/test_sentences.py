import pytest

from kebab.text.sentences import (
    LONGEST,
    build_layout,
    find_sentence_starts,
    find_sentences,
    is_abbreviation,
)


def parts(text):
    return [text[start:end] for start, end, _ in find_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("...", []),
        ("One. Two! Three? four", ["One.", "Two!", "Three? four"]),
        ("No full stop", ["No full stop"]),
        ("He met Dr. Smith. She left.", ["He met Dr. Smith.", "She left."]),
        (
            "Rules, e.g. Hooke's, and i.e. Those. Yes.",
            ["Rules, e.g. Hooke's, and i.e. Those.", "Yes."],
        ),
        ("J. R. R. Tolkien wrote. We read.", ["J. R. R. Tolkien wrote.", "We read."]),
        (
            "In the U.S. Army. In the U.S. The end.",
            ["In the U.S. Army.", "In the U.S.", "The end."],
        ),
        ("See No. 5 first. I say no. Fine.", ["See No. 5 first.", "I say no.", "Fine."]),
        ("It was in 1998. Then it ended.", ["It was in 1998.", "Then it ended."]),
        (
            "Pi is 3.14 and v1.2.3 is out. See a.b.md. Done.",
            ["Pi is 3.14 and v1.2.3 is out.", "See a.b.md.", "Done."],
        ),
        (
            "Go to https://a.io/x.html?q=1. Then stop.",
            ["Go to https://a.io/x.html?q=1.", "Then stop."],
        ),
        ("Wait... what? Well... Yes.", ["Wait... what?", "Well...", "Yes."]),
        ('He said "Go." She went.', ['He said "Go."', "She went."]),
        ('"Why?" he asked. (She knew.) End.', ['"Why?" he asked.', "(She knew.)", "End."]),
        (
            "so it began. then it went on. it ended.",
            ["so it began.", "then it went on.", "it ended."],
        ),
        ("A fact. [1] Another.[2][3] Last.", ["A fact. [1]", "Another.[2][3]", "Last."]),
        (
            "Old.[citation needed] New. [Link](a.md) it.",
            ["Old.[citation needed]", "New.", "[Link](a.md) it."],
        ),
        ("Run `a. B` now. Then `c`.", ["Run `a. B` now.", "Then `c`."]),
        ("pens, ink, etc.? Yes.", ["pens, ink, etc.?", "Yes."]),
        ("well... it went on. it ended.", ["well... it went on.", "it ended."]),
        ("Am 3. Oktober war es so. Gut.", ["Am 3. Oktober war es so.", "Gut."]),
        (
            "今日は晴れ。明日は雨！本当？はい",
            ["今日は晴れ。", "明日は雨！", "本当？", "はい"],
        ),
        ("本当！?はい", ["本当！?", "はい"]),
        ("「行け。早く。」と彼は言った。終わり。", ["「行け。早く。」と彼は言った。", "終わり。"]),
        ("「行け。」彼は去った。", ["「行け。」", "彼は去った。"]),
        ("東京（旧名。江戸）は都。", ["東京（旧名。江戸）は都。"]),
        ("他说：“好。”他走了。", ["他说：“好。”", "他走了。"]),
        ("첫째입니다. 둘째예요. 3.5배다.", ["첫째입니다.", "둘째예요.", "3.5배다."]),
        (
            "줄을 바꾸는 문장이 여기에\n이어진다. 다음.",
            ["줄을 바꾸는 문장이 여기에\n이어진다.", "다음."],
        ),
        (
            "자세한 내용은\n[쿠버네티스 API에 대한 접근 제어](/docs/access/)를 함께 참고한다.",
            ["자세한 내용은\n[쿠버네티스 API에 대한 접근 제어](/docs/access/)를 함께 참고한다."],
        ),
        (
            "축출을 요청하면\nAPI 서버는 인가 확인을 수행하고 다음 중 하나로 응답한다.",
            ["축출을 요청하면\nAPI 서버는 인가 확인을 수행하고 다음 중 하나로 응답한다."],
        ),
        ("첫 줄이다\n둘째 줄이다", ["첫 줄이다", "둘째 줄이다"]),
        ("यह एक है। वह दो है।", ["यह एक है।", "वह दो है।"]),
        ("ما هذا؟ هذا كتاب.", ["ما هذا؟", "هذا كتاب."]),
    ],
)
def test_prose_is_split_at_the_stops_of_its_script(text, expected):
    assert parts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Title\nText here.", ["Title", "Text here."]),
        ("Title\n=====\nText.", ["Title", "Text."]),
        ("- one\n- two. More\n  of two\n3. three", ["one", "two.", "More\n  of two", "three"]),
        ("- [x] done\n- [ ] open", ["done", "open"]),
        ("| a | b |\n|---|---|\n| x. Y | 2 |", ["| a | b |", "| x. Y | 2 |"]),
        ("Do:\n\n```sh\nls -l. A\ncd ..\n```\nDone.", ["Do:", "ls -l. A\ncd ..", "Done."]),
        (
            "> quoted words that go on until\n> the line ends. New.",
            ["quoted words that go on until\n> the line ends.", "New."],
        ),
        ("<!-- body -->\n{{< note >}}\nWords.", ["Words."]),
        ("One paragraph\n\nAnother", ["One paragraph", "Another"]),
        (
            "A line that was wrapped by an editor at\nsome place. And more.",
            ["A line that was wrapped by an editor at\nsome place.", "And more."],
        ),
        (
            "Meeting on the new office building, 3 June\nAna\nJun-ho orders all the desks for us",
            [
                "Meeting on the new office building, 3 June\nAna",
                "Jun-ho orders all the desks for us",
            ],
        ),
        (
            "Where: the second floor of the office\nWhen: the last Friday of August, early",
            ["Where: the second floor of the office", "When: the last Friday of August, early"],
        ),
        (
            "A poem line  \nand the next one goes here",
            ["A poem line", "and the next one goes here"],
        ),
    ],
)
def test_blocks_of_markdown_bound_sentences(text, expected):
    assert parts(text) == expected


def test_a_long_stretch_without_stops_is_cut_at_a_clause():
    text = "คำที่ยาวมาก " * 100 + "word, " * 100
    found = find_sentences(text)
    assert len(found) > 2
    assert all(end - start <= LONGEST for start, end, _ in found)
    assert "".join("".join(parts(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "\n\n  a. B\t\n> - # x\n```\n|",
        "\r\nA.\r\nB.\r\n",
        "```\n" * 5,
        "[" * 3000 + "a. B",
        "「" * 2000 + "。a",
        "`" * 999 + ". A",
        "1. " * 500,
        "\x00. A\u200b. B",
        "A." * 4000,
        "." * 4000 + "x",
        "." + "[1]" * 2000 + "x",
        "|" + "   |" * 500 + "x\n" + "|" + "   |" * 500 + "x",
        "<!---->" * 500 + "x",
        "A. " * 1000 + "b" * 5000,
    ],
)
def test_spans_of_any_text_are_trimmed_ordered_and_disjoint(text):
    at = 0
    for start, end, _ in find_sentences(text):
        assert at <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        at = end


def kinds(text):
    return [(block.kind, text[block.start : block.end]) for block in build_layout(text).blocks]


def test_an_empty_text_has_no_blocks():
    assert build_layout("").blocks == ()


def _sentences(text):
    starts = find_sentence_starts(text)
    ends = [*starts[1:], len(text)]
    return [text[start:end].strip() for start, end in zip(starts, ends, strict=True)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["One ends.", "Another begins!", "Does it?", "It does."],
        ['He said "stop."', "Then he left."],
        ["It was so.[12]", "It is."],
        ["一つ目。", "二つ目！", "三つ目？"],
        ["彼は「はい。」", "次の文。"],
        ["यह पहला है।", "यह दूसरा है।"],
        ["a heading", "- a list", "| a | table |"],
    ],
)
def test_sentences_of_any_script_are_split(sentences):
    wide = sentences[0][-1] in "。」"
    glue = "\n" if sentences[0] == "a heading" else "" if wide else " "

    assert _sentences(glue.join(sentences)) == sentences


@pytest.mark.parametrize(
    "text",
    [
        "Buy milk\nCall Bob",
        "# A heading that is as long as a line of a paragraph that was broken\nA paragraph.",
        "An item that is as long as a line of a paragraph that was broken\n- another item",
        "An item that is as long as a line of a paragraph that was broken\n2. another item",
        "A paragraph as long as a line of a paragraph that was broken at all\n\nAnother one.",
        "A sentence as long as a line of a paragraph that was broken (at all.)\nAnother one.",
        "A sentence as long as a line of a paragraph that was broken at all. \nAnother one.",
    ],
)
def test_other_lines_end_where_they_break(text):
    assert len(find_sentence_starts(text)) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr| Smith", True),
        ("Fig| 3", True),
        ("Fig| The", False),
        ("J| Smith", True),
        ("vitamin C| The", False),
        ("Apple Inc| CEO", True),
        ("Apple Inc| The", False),
        ("am 3| Oktober", True),
        ("in 1998| October", False),
        ("the end| New", False),
        ("heat it to 240 \u00b0C| Bake", False),
        ("그것은 책| 다음", False),
        ("|", False),
    ],
)
def test_a_full_stop_belongs_to_an_abbreviation(text, expected):
    stop = text.index("|")
    assert is_abbreviation(text.replace("|", "."), stop, stop + 1) is expected
