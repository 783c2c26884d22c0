import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.chunk.budget import Budget, estimate_tokens
from kebab.chunk.split import LeadFinder, split_document, split_sections
from kebab.core.chunks import build_embed_text
from kebab.core.documents import Block, BlockKind, Metadata, ParsedDocument
from kebab.parse.text.data import DataParser
from kebab.parse.text.markdown import MarkdownParser

SENTENCES = [
    "The cache is empty. ",
    "한국어 문장이다. ",
    "Why? ",
    "x" * 90 + " ",
    "日本語の文。",
    "\u00e9" * 30,
]
PARAGRAPH = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=25).map("".join)
BLOCK = st.one_of(
    PARAGRAPH,
    st.tuples(st.integers(1, 4), st.sampled_from(["One", "둘", "*Three*", ""])).map(
        lambda heading: "#" * heading[0] + " " + heading[1]
    ),
    st.lists(PARAGRAPH, min_size=1, max_size=6).map(lambda rows: "- " + "\n- ".join(rows)),
    st.integers(0, 40).map(lambda rows: "|a|b|\n|-|-|" + "\n|1|2|" * rows),
    st.lists(PARAGRAPH, max_size=4).map(lambda rows: "```\n" + "\n\n    ".join(rows) + "\n```"),
    st.just("***"),
)  # fmt: skip
NOTE = st.lists(BLOCK, max_size=12).map("\n\n".join)


def parse(note):
    return MarkdownParser().parse(note.encode(), "note.md")


def assert_sound(document, chunks, budget):
    text, lines, covered = document.text, document.text.split("\n"), set[int]()
    end = 0
    for number, chunk in enumerate(chunks):
        assert chunk.ordinal == number
        assert chunk.start >= end
        assert chunk.text == text[chunk.start : chunk.end]
        cited = "\n".join(lines[chunk.start_line - 1 : chunk.end_line])
        assert chunk.text in cited
        assert chunk.start_line == text.count("\n", 0, chunk.start) + 1
        assert chunk.text.strip("\n") == chunk.text
        assert chunk.text.strip()
        covered.update(range(chunk.start, chunk.end))
        end = chunk.end
    for block in document.blocks:
        for at in range(block.start, block.end):
            assert at in covered or text[at].isspace()
    whole = [build_embed_text(document.title, chunk.heading_path, chunk.text) for chunk in chunks]
    assert all(size <= budget.limit for size in budget.count(whole))


@settings(max_examples=30)
@given(note=NOTE, limit=st.sampled_from([40, 100, 254]))
def test_chunks_are_exact_slices_that_fit_and_cover(note, limit):
    document, budget = parse(note), Budget(limit)
    assert_sound(document, split_document(document, budget), budget)


@given(note=NOTE)
def test_a_counter_whose_parts_do_not_add_up_still_fits(note):
    def moody(texts):
        return [size + size // 5 if size > 50 else size for size in estimate_tokens(texts)]

    document, budget = parse(note), Budget(100, moody)
    assert_sound(document, split_document(document, budget), budget)


@given(bodies=st.lists(PARAGRAPH, min_size=3, max_size=6), edit=PARAGRAPH, where=st.integers(0, 5))
def test_an_edit_leaves_the_chunks_of_other_sections_alone(bodies, edit, where):
    def texts(sections):
        note = "\n\n".join(f"## S{n}\n\n{body}" for n, body in enumerate(sections))
        return {
            (chunk.heading_path, chunk.text) for chunk in split_document(parse(note), Budget(100))
        }

    changed = where % len(bodies)
    edited = [edit if number == changed else body for number, body in enumerate(bodies)]
    path = (f"S{changed}",)
    before = {found for found in texts(bodies) if found[0] != path}
    assert before == {found for found in texts(edited) if found[0] != path}


def paths_and_texts(note, limit=254):
    return [
        (chunk.heading_path, chunk.text) for chunk in split_document(parse(note), Budget(limit))
    ]


@pytest.mark.parametrize(("end", "together"), [(":", True), (".", False)])
def test_a_sentence_that_introduces_a_list_stays_with_it(end, together):
    items = "".join(f"- item {number} of the list of things to pack\n" for number in range(8))
    before = "\n\n".join("A long tale of a journey without luggage. " * 4 for _ in range(2))
    note = (
        f"{before}\n\nThings that every traveller needs and often forgets at home{end}\n\n{items}"
    )

    (holder,) = [text for _, text in paths_and_texts(note, 120) if "item 0" in text]

    assert ("forgets at home" in holder) is together


@pytest.mark.processor_s(20)
@pytest.mark.parametrize(
    "note",
    ["The quick brown fox. " * 20_000, "x" * 400_000, "가나다라" * 40_000, "\t" * 200_000 + "a",
     "a" + "\u0301" * 100_000, "# a\n" * 5_000, "word\n" * 20_000],
    ids=["sentences", "one word", "hangul", "tabs", "marks", "headings", "lines"],
)  # fmt: skip
def test_large_blocks_take_linear_time(note):
    budget = Budget()
    # The Markdown parser leaves out what repeats a few letters.
    plain = ParsedDocument(note, "note", (Block(BlockKind.PARAGRAPH, 0, len(note)),))
    chunks = split_document(parse(note) if note.startswith("#") else plain, budget)
    assert max(budget.count([chunk.text for chunk in chunks])) <= budget.limit


def test_much_left_out_text_separates_passages_and_a_little_does_not():
    budget = Budget(254)
    comment = "<!-- " + "out of use " * 40 + "-->"
    long = split_document(parse(f"# A\n\none\n\n{comment}\n\ntwo\n"), budget)
    short = split_document(parse("# A\n\none\n\n<!-- body -->\n\ntwo\n"), budget)
    assert [chunk.text for chunk in long] == ["# A\n\none", "two"]
    assert [chunk.heading_path for chunk in long] == [("A",), ("A",)]
    assert [chunk.text for chunk in short] == ["# A\n\none\n\n\n\ntwo"]


def outline_of(note):
    document = MarkdownParser().parse(note.encode(), "a.md")
    return [
        [(document.text[block.start : block.end], "/".join(path)) for block, path in zip(
            section.blocks, section.paths, strict=True)]
        for section in split_sections(document.text, document.blocks)
    ]  # fmt: skip


def test_an_empty_heading_never_opens_the_block_above_it():
    assert [len(section) for section in outline_of("# A\na\n\n### B\n\n# C\nc\n")] == [2, 1, 2]


def split_blocks(*parts):
    """Return heading paths and texts of the chunks of blocks, each given with its text."""
    text, blocks = "", []
    for part, block in parts:
        blocks.append(block._replace(start=len(text), end=len(text) + len(part)))
        text += f"{part}\n"
    document = ParsedDocument(text=text, title="t", blocks=tuple(blocks))
    return [(chunk.heading_path, chunk.text) for chunk in split_document(document, Budget())]


def test_a_block_that_ends_sections_belongs_to_the_outer_heading():
    heading, code = Block(BlockKind.HEADING, 0, 0, 1, "a"), Block(BlockKind.CODE, 0, 0)
    assert split_blocks(
        ("class a", heading),
        ("def b", heading._replace(level=2, label="b")),
        ("one", code),
        ("two", code._replace(ends=2)),
        ("three", code._replace(ends=1)),
    ) == [(("a", "b"), "class a\ndef b\none"), (("a",), "two"), ((), "three")]


def test_headings_without_text_share_a_passage_that_the_next_with_text_does_not_join():
    heading, code = Block(BlockKind.HEADING, 0, 0, 1, "a", 1), Block(BlockKind.CODE, 0, 0)
    assert split_blocks(
        ("a", heading),
        ("b", heading._replace(label="b")),
        ("c", heading._replace(label="c", ends=0)),
        ("one", code),
    ) == [((), "a\nb"), (("c",), "c\none")]


ROWS = "\n".join(f"| option_{n} | {n} | What option {n} does for the service |" for n in range(80))
TABLE = f"# Options\n\n| Name | Default | Meaning |\n|---|---|---|\n{ROWS}\n"


def split(text, limit=80):
    budget = Budget(limit=limit)
    document = MarkdownParser().parse(text.encode(), "a.md")
    return budget, document.title, split_document(document, budget)


def _make_finder(text, blocks):
    return LeadFinder(ParsedDocument(text, "Title", tuple(blocks)), Budget())


@pytest.mark.parametrize(
    ("table", "header"),
    [
        ("a,b\n1,2\n3,4", "a,b"),
        ("+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |", "| a | b |"),
        ("=====  ====\n-----  ----\n1      2", ""),
    ],
)
def test_the_header_is_the_first_of_two_lines_that_is_no_rule(table, header):
    finder = _make_finder(table, [Block(BlockKind.TABLE, 0, len(table))])
    assert finder.find(len(table) - 1) == header
    assert finder.find(0) == ""


def test_the_label_of_a_table_is_its_header_unless_the_passage_begins_with_it():
    text = "name,default\na,1\nb,2\nc,3"
    second = text.index("b,2")
    blocks = [
        Block(BlockKind.TABLE, 0, second - 1, label="name,default"),
        Block(BlockKind.TABLE, second, len(text), label="name,default"),
    ]
    finder = _make_finder(text, blocks)

    starts = [0, text.index("a,1"), second, text.index("c,3")]
    assert [finder.find(start) for start in starts] == ["", *["name,default"] * 3]


def test_every_passage_of_a_csv_file_stands_with_its_header():
    rows = "".join(f"option_{n},{n},What option {n} does\n" for n in range(80))
    quoted = 'last,"two\nlines",end\n'
    document = DataParser("table").parse(f"name,default,meaning\n{rows}{quoted}".encode(), "a.csv")
    first, *others = split_document(document, Budget(limit=80))

    assert first.context == ""
    assert {chunk.context for chunk in others} == {"name,default,meaning"}


def test_the_rest_of_a_function_has_its_signature():
    text = "# Puts it.\ndef store(row, *, force=False):\n    first()\n    second()"
    split_at = text.index("    first")
    blocks = [
        Block(BlockKind.HEADING, 0, split_at - 1, 1, "store"),
        Block(BlockKind.CODE, split_at, len(text)),
    ]
    finder = _make_finder(text, blocks)
    assert finder.find(text.index("    second")) == "def store(row, *, force=False):"
    assert finder.find(split_at) == ""


def test_the_first_passage_has_the_properties_that_the_text_does_not_hold():
    metadata = Metadata("Title", ("ropes", "quokka"), authors=("Ann",), properties=(("isbn", "1"),))
    text = "Text of Ann on ropes."
    blocks = (Block(BlockKind.PARAGRAPH, 0, len(text)),)
    (chunk,) = split_document(ParsedDocument(text, "Title", blocks, metadata), Budget())
    assert chunk.context == "isbn: 1; tags: quokka"


def test_definitions_of_links_at_the_end_are_a_passage_of_their_own():
    _, _, chunks = split("# A\n\nText [x].\n\n[x]: https://example.org\n\n[y]: y.md\n")
    assert [chunk.text for chunk in chunks] == [
        "# A\n\nText [x].",
        "[x]: https://example.org\n\n[y]: y.md",
    ]
