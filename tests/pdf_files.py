"""Builds small PDF files for tests: text at positions, in a font that every reader has."""

from collections.abc import Sequence
from typing import NamedTuple


class Text(NamedTuple):
    """A line of text at a point of the page, in points from the lower left corner."""

    x: float
    y: float
    text: str
    size: float = 10
    bold: bool = False
    turned: bool = False


class Box(NamedTuple):
    """A rectangle that is drawn, from its lower left corner."""

    x: float
    y: float
    width: float
    height: float


PAGE = (595, 842)
LEADING = 12
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>"


def build_pdf(pages: Sequence[Sequence[Text | Box]], *, info: str = "", outline: str = "") -> bytes:
    """Return a PDF with these pages; `info` is the inside of the dictionary of properties."""
    first = 5
    bodies = {
        1: f"<< /Type /Catalog /Pages 2 0 R {outline} >>".encode(),
        2: _build_page_tree(len(pages), first),
        3: FONT % b"Helvetica",
        4: FONT % b"Helvetica-Bold",
    }
    for number, texts in enumerate(pages):
        content = "\n".join(map(_draw, texts)).encode("cp1252")
        bodies[first + 2 * number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {PAGE[0]} {PAGE[1]}]"
            f" /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >>"
            f" /Contents {first + 2 * number + 1} 0 R >>"
        ).encode()
        bodies[first + 2 * number + 1] = (
            f"<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"
        )
    properties = max(bodies) + 1
    bodies[properties] = f"<< {info} >>".encode()
    return assemble(bodies, properties)


def assemble(bodies: dict[int, bytes], properties: int) -> bytes:
    """Return a file of numbered objects; the first is the catalog."""
    data = b"%PDF-1.4\n"
    offsets = {}
    for number in sorted(bodies):
        offsets[number] = len(data)
        data += f"{number} 0 obj\n".encode() + bodies[number] + b"\nendobj\n"
    start = len(data)
    data += f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n".encode()
    data += b"".join(f"{offsets[number]:010d} 00000 n \n".encode() for number in sorted(bodies))
    trailer = f"trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R /Info {properties} 0 R >>\n"
    return data + trailer.encode() + f"startxref\n{start}\n%%EOF\n".encode()


def write_lines(
    lines: Sequence[str], x: float = 72, top: float = 770, size: float = 10
) -> list[Text]:
    """Return lines of text below each other."""
    return [Text(x, top - LEADING * row, line, size) for row, line in enumerate(lines)]


def _build_page_tree(count: int, first: int) -> bytes:
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(count))
    return f"<< /Type /Pages /Count {count} /Kids [{kids}] >>".encode()


def _draw(text: Text | Box) -> str:
    if isinstance(text, Box):
        return f"{text.x} {text.y} {text.width} {text.height} re S"
    escaped = text.text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    matrix = "0 1 -1 0" if text.turned else "1 0 0 1"
    font = "F2" if text.bold else "F1"
    return f"BT /{font} {text.size} Tf {matrix} {text.x} {text.y} Tm ({escaped}) Tj ET"
