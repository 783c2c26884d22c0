"""The conformance suites of parsers and embedding models, for packages that add one.

A test of the package derives a class whose name begins with `Test` from a suite, sets its
attributes, and pytest runs it. `tests/ports/test_parsers.py` holds kebab's own parsers to it.
"""

import math
import operator
import pickle
import random
import unicodedata

from kebab.core.documents import ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.plugins import Embedding, Format, check_embedding, check_format

_RANDOM_FILES, _RANDOM_BYTES = 200, 400
_SAME_COSINE = 0.999


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


class EmbedderSuite:
    """What every embedding model promises."""

    embedding: Embedding

    def test_the_model_can_be_used(self) -> None:
        """Its facts are what kebab accepts."""
        check_embedding(self.embedding)

    def test_a_vector_depends_on_its_text_alone(self) -> None:
        """Every text has a vector of the dimension, the same beside other texts and alone."""
        long = "many words of a long text " * self.embedding.facts.window
        texts = ["a man is eating food", "", "?!", "naïve 한국어 \N{ROCKET}", long]
        together = self._embed(*texts)
        for text, vector in zip(texts, together, strict=True):
            assert _multiply(vector, *self._embed(text)) > _SAME_COSINE, f"not alone: {text}"

    def test_texts_of_one_meaning_are_nearer(self) -> None:
        """A question is nearer to its answer than to another text."""
        facts = self.embedding.facts
        question, right, wrong = self._embed(
            f"{facts.query_prefix}when is the train to the harbour",
            f"{facts.passage_prefix}the train to the harbour leaves at nine",
            f"{facts.passage_prefix}we eat soup with bread",
        )
        assert _multiply(question, right) > _multiply(question, wrong), "it is farther"

    def _embed(self, *texts: str) -> list[list[float]]:
        """Return the vectors scaled to length 1."""
        vectors = [[float(one) for one in vector] for vector in self.embedding.embed([*texts])]
        assert len(vectors) == len(texts), "there is not one vector for each text"
        for vector in vectors:
            assert len(vector) == self.embedding.facts.dimension, "a vector has another dimension"
            assert 0 < math.hypot(*vector) < math.inf, "a vector is zero or not a number"
        return [[one / math.hypot(*vector) for one in vector] for vector in vectors]


def _multiply(first: list[float], second: list[float]) -> float:
    return math.fsum(map(operator.mul, first, second))
