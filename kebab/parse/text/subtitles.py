"""Reads subtitles: SubRip, WebVTT, and SBV of YouTube.

The time line that begins a minute of the film is a heading whose label is its time, so a passage
leads to its moment. Numbers and the time lines between are no blocks.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from kebab.core.documents import BlockKind, Edit, Metadata, ParsedDocument
from kebab.parse.blocks import Lines, Span, build_line_document
from kebab.parse.encoding import decode
from kebab.text.normalize import load_words, split_names

_CUE = re.compile(
    r"(?:(\d{1,3}):)?(\d{1,2}):(\d{1,2})(?:[.,]\d{1,3})?\s*(?:-->|,)\s*"
    r"(?:\d{1,3}:)?\d{1,2}:\d{1,2}(?:[.,]\d{1,3})?(?:\s.*)?\Z"
)
_SIDE_BLOCK = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)(?:\s|\Z)")
_LANG = re.compile(r"\.([a-z]{2})(?:[-_]\w{2,4})?\Z")
_LANGUAGES = split_names(load_words("subtitles")["languages"])
_TAG = re.compile(r"</?[a-z0-9][^<>\n]{0,80}>|\{\\[^{}\n]{0,80}\}", re.IGNORECASE)
_VOICE = re.compile(r"<v(?:\.[\w.]+)?[ \t]+([^<>]+)>")
_PART_S = 60
_FEW = 2


class SubtitlesParser:
    """Parses subtitles."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its title is the file's stem."""
        decoded = decode(data)
        stem = PurePosixPath(path).stem
        lang = _LANG.search(stem)
        metadata = Metadata(title=stem, lang=lang[1] if lang and lang[1] in _LANGUAGES else None)
        spans = _find_spans(Lines(decoded.text))
        return build_line_document(decoded, path, spans, metadata, find_edits=_find_marks)


def _find_marks(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the tags within the speech: times of words, styles, and voices, which are names."""
    for match in _TAG.finditer(text, start, end):
        voice = _VOICE.match(match[0])
        yield Edit(*match.span(), f"{voice[1]}: " if voice else "")


def _find_repeated(lines: Lines) -> set[int]:
    """Return the lines of rolling captions that repeat a line of the cue before.

    They roll where at least half of the cues begin with what the last one ended with. In speech
    and songs fewer cues do.
    """
    cues: list[list[tuple[int, str]]] = []
    for number, line in enumerate(lines.text):
        if _CUE.match(line):
            cues.append([])
        elif cues and (text := _TAG.sub("", line).strip()) and not _is_left_out(lines, number):
            cues[-1].append((number, text))
    said = [cue for cue in cues if cue]
    pairs = [(before[-1][1], after) for before, after in pairwise(said)]
    if sum(last == after[0][1] for last, after in pairs) * 2 < len(pairs) or len(pairs) < _FEW:
        return set()
    repeated = set()
    for before, after in pairwise(said):
        known = {text for _, text in before}
        repeated |= {number for number, text in after if text in known}
    return repeated


def _find_spans(lines: Lines) -> Iterator[Span]:
    """Yield the headings and the lines that are left out; all other lines are paragraphs."""
    repeated = _find_repeated(lines)
    part, number = -1, 0
    while number < lines.count:
        cue, end = _CUE.match(lines.text[number]), number + 1
        seconds = (int(cue[1] or 0) * 60 + int(cue[2])) * 60 + int(cue[3]) if cue else 0
        if cue and seconds // _PART_S != part:
            part = seconds // _PART_S
            label = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
            yield Span(BlockKind.HEADING, number, end, 1, label)
        elif number in repeated or _is_left_out(lines, number):
            if _SIDE_BLOCK.match(lines.text[number]):
                end = lines.find_blank(number, lines.count)
            yield Span(None, number, end)
        number = end


def _is_left_out(lines: Lines, number: int) -> bool:
    """Return whether a line is a time, the number or name of a cue, or no part of the speech."""
    bare, below = lines.text[number], lines.text[number + 1 : number + 2]
    starts = number == 0 or not lines.text[number - 1]
    is_side = starts and (_SIDE_BLOCK.match(bare) or any(map(_CUE.match, below)))
    return bool(is_side or _CUE.match(bare))
