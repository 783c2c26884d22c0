from kebab.core.documents import BlockKind
from kebab.parse.text.subtitles import SubtitlesParser
from tests.shape.tree import ROOT

SAMPLES = ROOT / "samples" / "formats"
ASS = """[Script Info]
Title: x
[V4+ Styles]
Style: Default,Arial,20
[Events]
Format: Layer, Start, End, Style, Text
Dialogue: 0,0:00:01.50,0:00:04.00,Default,Hello there
Comment: 0,0:00:02.00,0:00:04.00,Default,secret
Dialogue: 0,0:00:05.00,0:00:07.00,Default,Second words
Dialogue: 0,0:02:05.00,0:02:07.00,Default,Later words
"""


def parse(source, name="film.srt"):
    return SubtitlesParser().parse(source.encode(), name)


def read(name):
    return SubtitlesParser().parse((SAMPLES / name).read_bytes(), name)


def list_paragraphs(document):
    return [
        document.text[block.start : block.end]
        for block in document.blocks
        if block.kind is BlockKind.PARAGRAPH
    ]


def list_times(document):
    return [block.label for block in document.blocks if block.kind is BlockKind.HEADING]


def test_notes_styles_and_names_of_cues_are_left_out():
    document = read("lecture.vtt")

    assert list_times(document) == ["00:00:01", "00:01:30"]
    assert list_paragraphs(document) == [
        "<v Mina>Sourdough needs time.",
        "And a warm place.",
        "Feed the starter twice a day.",
    ]


def test_scripts_keep_only_their_dialogue():
    document = parse(ASS, "film.ass")
    found = "\n".join(document.text[block.start : block.end] for block in document.blocks)

    assert list_times(document) == ["00:00:01", "00:02:05"]
    for word in ("Arial", "secret", "Title", "Format"):
        assert word not in found
    for word in ("Hello there", "Second words", "Later words"):
        assert word in found
