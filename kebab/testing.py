"""The conformance suite of parsers, for packages that add one.

A test of the package derives a class whose name begins with `Test` from a suite, sets its
attributes, and pytest runs it. `tests/ports/test_parsers.py` holds kebab's own parsers to it.
"""

import pickle
import random
import unicodedata

from kebab.core.documents import ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.plugins import Format, check_format

_RANDOM_FILES, _RANDOM_BYTES = 200, 400


def check_document(document: ParsedDocument) -> None:
    """Assert what holds for the document of every parser."""
    text, end = document.text, 0
    assert unicodedata.is_normalized("NFC", text), "the text is not NFC"
    assert not {"\r", "\0"} & set(text), "a line ends with a carriage return, or there is a zero"
    for block in document.blocks:
        assert end <= block.start < block.end <= len(text), f"a block is out of order: {block}"
        assert block.start == 0 or text[block.start - 1] == "\n", f"it begins in a line: {block}"
        assert text[block.start : block.end].strip(), f"a block is empty: {block}"
        assert bool(block.level) == (block.kind == "heading"), f"only headings have levels: {block}"
        end = block.end
    starts = [place.start for place in document.places]
    assert starts == sorted(set(starts)), "the places are not in order"
    assert {*starts} <= {block.start for block in document.blocks}, "a place begins in a block"
    assert document.title, "there is no title"
    assert "\n" not in document.title, "the title has two lines"


class ParserSuite:
    """What every parser promises; `samples` are files of the format."""

    format: Format
    samples: tuple[bytes, ...]

    def test_the_format_can_be_used(self) -> None:
        """Its media type, suffixes and version are what kebab accepts."""
        check_format(self.format)

    def test_samples_become_documents(self) -> None:
        """Each sample has text, is the same when it is parsed again, and can leave a worker."""
        assert self.samples, "there is no sample"
        for sample in self.samples:
            document = self.format.parser.parse(sample, "folder/sample")
            check_document(document)
            assert document.blocks, "a sample has no text"
            assert document == self.format.parser.parse(sample, "folder/sample")
            assert pickle.loads(pickle.dumps(document)) == document  # noqa: S301 - written here

    def test_other_bytes_are_parsed_or_refused(self) -> None:
        """Damaged samples and random bytes raise nothing but `ParseFailed`."""
        chance = random.Random(7)  # noqa: S311 - no secret
        cuts = [one[: chance.randrange(len(one) + 1)] for one in self.samples for _ in range(20)]
        noise = [chance.randbytes(chance.randrange(_RANDOM_BYTES)) for _ in range(_RANDOM_FILES)]
        for data in (b"", *cuts, *noise):
            named = ("folder/sample", self.format.parser.version)
            try:
                check_document(self.format.parser.parse(data, "folder/sample"))
            except ParseFailed as refusal:
                named = (refusal.path, refusal.parser)
            assert named == ("folder/sample", self.format.parser.version), "it names another file"
