"""Writes the numbers of a workbook as its number formats show them: `12.5%`, `00123`, `1,234.50`.

Dates and times are written by `kebab.parse.office.sheets`. Only the parts of workbooks in XML say
which format a cell has.
"""

import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import TypeAlias

from kebab.parse.archive import find_child, list_children
from kebab.parse.office.graphics import get_id
from kebab.parse.office.ooxml import Package

Formats: TypeAlias = Mapping[tuple[int, int], str]
"""The number formats of a sheet by row and column from 0."""

_BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    **dict.fromkeys((37, 38), "#,##0;(#,##0)"),
    **dict.fromkeys((39, 40), "#,##0.00;(#,##0.00)"),
}
_CELL = re.compile(
    rb'<(?:\w{1,20}:)?c\s(?=[^<>]*?\bs="(\d{1,6})")[^<>]*?\br="([A-Z]{1,3})(\d{1,7})"'
)
_TEXT = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]')
_PATTERN = re.compile(r"[#0?,]*[#0?](?:\.[#0?]+)?")
_NUMBER = re.compile(r"-?\d[\d.]*")
_MAX_DIGITS = 30
_LONGEST_TYPED = 10
"""A stored number with more characters was computed, and nobody searches for it."""


def read_formats(package: Package) -> dict[str, Formats]:
    """Return the formats of the cells of each sheet, without those that show numbers as stored.

    Raises:
        ParseFailed: A part is damaged or too large.
    """
    codes = _read_codes(package)
    if not codes or not package.main.endswith(".xml"):
        return {}
    found: dict[str, Formats] = {}
    relations = package.read_relations(package.main)
    for sheet in list_children(find_child(package.find_tree(package.main), "sheets")):
        part = relations.get(get_id(sheet))
        if part is None or part.target not in package.archive.names:
            continue
        cells = {}
        for style, column, row in _CELL.findall(package.archive.read(part.target)):
            if code := codes.get(int(style)):
                cells[int(row) - 1, count_columns(column) - 1] = code
        found[sheet.get("name", "")] = cells
    return found


def count_columns(column: bytes) -> int:
    """Return the number of a column from 1, e.g. 27 for `AA`."""
    number = 0
    for letter in column:
        number = number * 26 + letter - ord("A") + 1
    return number


def _read_codes(package: Package) -> dict[int, str]:
    """Return the formats by the number of the style of a cell."""
    root = package.find_tree(package.find_related(package.main, "styles"))
    own = {
        one.get("numFmtId", ""): one.get("formatCode", "")
        for one in list_children(find_child(root, "numFmts"))
    }
    styles = enumerate(list_children(find_child(root, "cellXfs")))
    codes = {}
    for number, style in styles:
        key = style.get("numFmtId", "0")
        code = own.get(key) or (_BUILT_IN.get(int(key), "") if key.isdecimal() else "")
        if _PATTERN.search(code) and code != "General":
            codes[number] = code
    return codes


def show_number(value: float, stored: str, code: str) -> str:
    """Return a number as a format shows it, and as it is stored where that is another number."""
    sections = code.split(";")
    section = sections[1] if value < 0 and len(sections) > 1 and sections[1] else sections[0]
    texts: list[str] = []

    def keep(match: re.Match[str]) -> str:
        texts.append(match[1] or match[2] or match[3] or "")
        return "\0"

    plain = _TEXT.sub(keep, section)
    pattern = _PATTERN.search(plain)
    if pattern is None or re.search("[eEdmyhs/]", plain) or abs(value) >= 10.0**_MAX_DIGITS:
        return stored
    shown = _write(Decimal(repr(abs(value))), pattern[0], percent=plain.count("%"))
    sign = "-" if value < 0 and section is sections[0] else ""
    whole = f"{plain[: pattern.start()]}{sign}{shown}{plain[pattern.end() :]}"
    parts = iter(texts)
    whole = " ".join(re.sub("\0", lambda _: next(parts), whole).split())
    is_stored = stored in _NUMBER.findall(whole.replace(",", ""))
    return whole if is_stored or len(stored) > _LONGEST_TYPED else f"{whole} ({stored})"


def _write(value: Decimal, pattern: str, *, percent: int) -> str:
    """Return a number with the digits and groups of a pattern such as `#,##0.00`."""
    whole, _, places = pattern.partition(".")
    scaled = value * Decimal(100) ** percent
    digits = scaled.quantize(Decimal(1).scaleb(-len(places)), rounding=ROUND_HALF_UP)
    before, _, after = f"{digits:f}".partition(".")
    least = whole.count("0")
    before = before.zfill(least) if least else before
    while after and places[len(after) - 1] == "#" and after.endswith("0"):
        after = after[:-1]
    grouped = f"{int(before):,}" if "," in whole.strip(",") and least <= 1 else before
    return f"{grouped}.{after}" if after else grouped
