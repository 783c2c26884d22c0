"""Books in the format FictionBook."""

import io
import zipfile
from pathlib import Path

import pytest

from kebab.core.documents import Metadata
from kebab.errors.catalog import ParseFailed
from kebab.parse.web.fb2 import Fb2Parser

SAMPLE = Path("samples/formats/harbour.fb2").read_bytes()


def pack(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, SAMPLE)
    return packed.getvalue()


@pytest.mark.parametrize("data", [SAMPLE, pack("a.fb2")])
def test_a_book_has_sections_verses_tables_and_notes(data):
    document = Fb2Parser().parse(data, "harbour.fb2")
    assert document.metadata == Metadata(
        "The Net Loft", ("harbour", "nets"), "en", ("Jana Petersen",), "2021-11-05"
    )
    assert document.text == (
        "> A winter above the harbour.\n\n# The Net Loft\n\n## Frost\n\n"
        "> Ice keeps no promises.\n> A skipper\n\n"
        "The loft smelled of tar and twine.[1]\n\n### The stove\n\n> Burn low,\n> burn long.\n\n"
        "| Month | Wood |\n|---|---|\n| January | 3 |\n\n## 1\n\nMade from pine."
    )


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (SAMPLE[:600], "broken"),
        (b"<FictionBook><body/></FictionBook>", "no text"),
        (pack("a.fb2", "b.fb2"), "has 2"),
        (b"<section>" * 10_000, "nested"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "entities"),
    ],
)
def test_what_is_no_book_is_refused(data, cause):
    with pytest.raises(ParseFailed, match=cause):
        Fb2Parser().parse(data, "a.fb2")


def test_raised_digits_do_not_join_the_number_before_them():
    book = b"<FictionBook><body><section><p>10<sup>5</sup> H<sub>2</sub>O</p></section></body>"
    assert Fb2Parser().parse(book + b"</FictionBook>", "a.fb2").text == "10⁵ H₂O"
