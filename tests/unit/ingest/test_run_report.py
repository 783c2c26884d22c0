import gc
import os

from msgspec import structs

from kebab.core.documents import KnownDocument
from kebab.core.files import FileEntry
from kebab.errors.catalog import ParseFailed
from kebab.ingest.job import IngestJob
from kebab.ingest.plan import FileTask, Plan, ScanSummary
from kebab.ingest.run import build_report
from kebab.parse.markdown import MarkdownParser
from tests.fakes.embedder import HashingEmbedder


def test_vectors_are_counted_by_file_and_in_total(desk):
    for name, title in (("a.md", "Same"), ("b.md", "Same"), ("c.md", "Other")):
        os.utime(desk.write(name, f"# {title}\n\ntext"), (1, 1))  # none is embedded before another

    outcome = desk.ingest()

    told = {item.doc_path: (item.chunk_count, item.embedded, item.reused) for item in outcome.items}
    assert told == {"a.md": (1, 1, 0), "b.md": (1, 0, 1), "c.md": (1, 1, 0)}
    assert (outcome.embedding.embedded, outcome.embedding.reused) == (2, 1)


def test_chunks_that_waited_since_an_earlier_run_count_in_all_only(desk):
    model, desk.embedder = desk.embedder, None
    desk.write("a.md", "text")
    desk.ingest()
    desk.embedder = model

    outcome = desk.again()

    assert outcome.items == []
    assert outcome.embedding.embedded == 1


def test_without_a_model_nothing_is_called_reused(desk):
    desk.embedder = None
    desk.write("a.md", "# A\n\nalpha\n\n# B\n\nbeta\n")
    desk.ingest()
    desk.write("a.md", "# A\n\nalpha\n\n# B\n\nbeta, changed\n")

    outcome = desk.again()

    assert (outcome.items[0].chunk_count, outcome.items[0].reused) == (2, 0)
    assert outcome.embedding.pending == 2


def test_warnings_of_a_file_reach_its_item(desk):
    desk.write("a.md", "---\ntitle: [unclosed\n---\ntext\n")

    (item,) = desk.ingest().items

    assert item.kind == "new"
    assert item.warnings


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


def test_readable_files_are_counted_by_the_name_of_their_format(desk):
    desk.parsers["text/markdown"] = Refusing()
    desk.write("a.txt", "text")
    for name in ("b.md", "c.md"):
        desk.write(name, "text")
    desk.write("d.md", "bad")

    assert list(desk.ingest().media.items()) == [("Markdown", 2), ("text", 1)]


def test_before_anything_is_done_nothing_is_counted():
    report = structs.asdict(build_report(IngestJob(), ScanSummary(()), Plan()))
    vectors = structs.asdict(report.pop("embedding"))

    assert not any(report.values()), report
    assert not any(vectors.values()), vectors
