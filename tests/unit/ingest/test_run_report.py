import gc
import os

import pytest

from kebab.core.documents import KnownDocument
from kebab.core.files import FileEntry
from kebab.errors.catalog import ParseFailed
from kebab.ingest.job import IngestJob, TextNote
from kebab.ingest.plan import FileTask
from kebab.ingest.run import build_file_name, build_file_text, ingest_text
from kebab.parse.text.markdown import MarkdownParser
from tests.fakes.embedder import HashingEmbedder


def test_vectors_are_counted_by_file_and_in_total(desk):
    for name, title in (("a.md", "Same"), ("b.md", "Same"), ("c.md", "Other")):
        os.utime(desk.write(name, f"# {title}\n\ntext"), (1, 1))  # none is embedded before another

    outcome = desk.ingest()

    told = {item.doc_path: (item.chunk_count, item.embedded, item.reused) for item in outcome.items}
    assert told == {"a.md": (1, 1, 0), "b.md": (1, 0, 1), "c.md": (1, 1, 0)}
    assert (outcome.embedding.embedded, outcome.embedding.reused) == (2, 1)


def test_skips_of_all_roots_are_summed(desk, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.mp3").write_text("", encoding="utf-8")
    desk.write("y.mp3", "")
    desk.write("a.md", "text")

    outcome = desk.run(IngestJob(paths=(str(desk.root), str(other))))

    assert outcome.skipped_by_reason == {"unsupported": 2}
    assert outcome.skip_examples == {"unsupported": ["y.mp3", "x.mp3"]}
    assert outcome.scope == [str(desk.root), str(other)]


def test_what_was_found_of_each_file_is_forgotten_before_the_model_works(desk):
    desk.write("a.md", "text")
    desk.ingest()
    desk.write("a.md", "another text")
    desk.write("b.md", "text of b")
    held: list[object] = []

    class Model(HashingEmbedder):
        def embed_passages(self, texts):
            gc.collect()
            held.extend(
                one
                for one in gc.get_objects()
                if isinstance(one, FileTask | FileEntry | KnownDocument)
            )
            return super().embed_passages(texts)

    desk.embedder = Model()
    outcome = desk.again()

    assert held == []
    assert (outcome.scanned, outcome.updated, outcome.new) == (
        2,
        1,
        1,
    )


class Refusing(MarkdownParser):
    def parse(self, data, path):
        if b"bad" in data:
            raise ParseFailed(path=path, parser="markdown-v1", cause="it is bad")
        return super().parse(data, path)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "data" / "stdin"


@pytest.fixture
def refusing(desk):
    """A text that the desk's parser refuses."""

    class Refusing(MarkdownParser):
        def parse(self, data, path):
            if b"refuse me" in data:
                raise ParseFailed(path=path, parser="markdown", cause="asked to")
            return super().parse(data, path)

    desk.parsers["text/markdown"] = Refusing()
    return "refuse me"


def note(folder, text="some text", title="A title", uri=None):
    return TextNote(title=title, text=text, source_uri=uri, folder=str(folder))


def store(desk, one, **options):
    return ingest_text(one, IngestJob(**options), desk.ports(), desk.events.append)


def test_front_matter_of_the_text_is_kept_and_its_title_replaced(folder):
    text = "---\ntitle: Old\ntags: [x]\n---\nbody\n"

    parsed = MarkdownParser().parse(build_file_text(note(folder, text)).encode(), "a.md")

    assert (parsed.title, parsed.metadata.tags) == ("A title", ("x",))
    assert "Old" not in parsed.text


@pytest.mark.parametrize(
    "title",
    ['quote " and \\ slash', "\U0001f600 emoji", "한글", "{a}"],
)
def test_any_title_comes_back_as_it_was(folder, title):
    parsed = MarkdownParser().parse(build_file_text(note(folder, title=title)).encode(), "a.md")

    assert parsed.title == title
    assert parsed.warnings == ()


@pytest.mark.parametrize("title", ["", "한" * 500])
def test_any_title_gives_a_plain_file_name(folder, title):
    name = build_file_name(note(folder, title=title))

    assert name == name.replace("/", "").replace("\0", "").lstrip(".")
    assert len(name.encode()) < 130
    assert name.endswith(".md")


def test_a_text_that_its_parser_refuses_leaves_the_one_before(desk, folder, refusing):
    store(desk, note(folder, "some text"))
    with pytest.raises(ParseFailed):
        store(desk, note(folder, refusing))

    (path,) = folder.iterdir()
    assert "some text" in path.read_text()
    assert desk.again().unchanged == 1
