from kebab.core.documents import BlockKind
from kebab.parse.text.subtitles import SubtitlesParser
from tests.shape.tree import ROOT

SAMPLES = ROOT / "samples" / "formats"


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
