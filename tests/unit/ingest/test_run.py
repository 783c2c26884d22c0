import os
import shutil
from collections import Counter

import pytest

from kebab.core.documents import ParsedDocument, build_named_files_key
from kebab.core.files import ScanRules
from kebab.core.progress import Cancel, ProgressKind
from kebab.errors.catalog import (
    EmbeddingMismatch,
    EmbeddingUnavailable,
    IoError,
    OutOfMemory,
    ParseFailed,
    SecretFile,
    TimedOut,
)
from kebab.ingest.build import DocumentBuilder
from kebab.ingest.job import IngestJob
from kebab.ingest.run import run_ingest
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.vectors import MemoryVectors


def counts(outcome):
    found = Counter("errors" if item.kind == "error" else item.kind for item in outcome.items)
    return {**found, **({"unchanged": outcome.unchanged} if outcome.unchanged else {})}


def kinds(desk):
    return [event.kind for event in desk.events]


def test_a_run_without_changes_loads_no_model_and_leaves_the_index_alone(desk):
    desk.write("a.md", "text")
    desk.ingest()
    table = desk.tables[desk.embedder.profile.version]
    before = (table.commits, desk.models_loaded)

    outcome = desk.again()

    assert counts(outcome) == {"unchanged": 1}
    assert not outcome.items
    assert (table.commits, desk.models_loaded) == before


def test_an_edit_keeps_the_id_and_the_vectors_of_what_stayed(desk):
    desk.write("a.md", "# A\n\nalpha\n\n# B\n\nbeta\n")
    desk.ingest()
    before = desk.ids()
    desk.write("a.md", "# A\n\nalpha\n\n# B\n\nbeta and more\n")
    del desk.embedder.embedded[:]

    outcome = desk.again()

    assert counts(outcome) == {"updated": 1}
    assert desk.ids() == before
    assert (outcome.items[0].reused, outcome.items[0].embedded) == (1, 1)
    assert len(desk.embedder.embedded) == 1


def test_an_edit_that_hides_behind_the_same_stamp_is_seen_when_it_came_right_after(desk):
    path = desk.write("a.md", "one")
    stat = path.stat()
    desk.ingest()
    desk.write("a.md", "two")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    assert counts(desk.again()) == {"updated": 1}


def test_a_moved_file_is_not_parsed(desk, monkeypatch):
    desk.write("old/a.md", "# Title\n\ntext\n")
    desk.ingest()
    (desk.root / "old").rename(desk.root / "new")
    monkeypatch.setattr(DocumentBuilder, "build_row", None)

    outcome = desk.again()

    assert [(item.kind, item.doc_path, item.chunk_count) for item in outcome.items] == [
        ("moved", "new/a.md", 1)
    ]
    assert desk.library.load_listing(str(desk.root)).unread == set()


def test_a_move_between_two_sources_keeps_the_id(desk, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    desk.write("a.md", "text that moves")
    desk.write("stay.md", "text that stays")
    (other / "b.md").write_text("text of the other", encoding="utf-8")
    desk.run(IngestJob(paths=(str(desk.root), str(other))))
    before = desk.ids()["a.md"]
    (desk.root / "a.md").rename(other / "a.md")

    assert counts(desk.again()) == {"moved": 1, "unchanged": 2}
    assert desk.ids(other)["a.md"] == before


def test_two_files_that_swap_names_keep_their_places(desk):
    desk.write("a.md", "content of a")
    desk.write("b.md", "content of b, longer")
    desk.ingest()
    before = desk.ids()
    (desk.root / "a.md").rename(desk.root / "x")
    (desk.root / "b.md").rename(desk.root / "a.md")
    (desk.root / "x").rename(desk.root / "b.md")

    assert counts(desk.again()) == {"updated": 2}
    assert desk.ids() == before
    assert counts(desk.again()) == {"unchanged": 2}


def test_a_root_that_is_suddenly_empty_deletes_nothing_but_a_folder_may_be_empty(desk):
    desk.write("a.md", "one")
    desk.ingest()
    (desk.root / "a.md").unlink()

    with pytest.raises(IoError, match="1 documents are known"):
        desk.again()

    assert list(desk.ids()) == ["a.md"]
    assert counts(desk.again(force=True)) == {"removed": 1}
    desk.write("sub/b.md", "two")
    desk.ingest()
    (desk.root / "sub" / "b.md").unlink()
    assert counts(desk.ingest("sub")) == {"removed": 1}
    desk.write("b.md", "three")
    desk.ingest()
    shutil.rmtree(desk.root)
    assert counts(desk.ingest(force=True)) == {"removed": 1}


def test_one_missing_root_does_not_spoil_the_others(desk, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.md").write_text("two", encoding="utf-8")
    desk.write("a.md", "one")
    desk.run(IngestJob(paths=(str(desk.root), str(other))))
    (other / "b.md").unlink()
    other.rmdir()

    outcome = desk.again()

    assert counts(outcome) == {"unchanged": 1, "errors": 1}
    assert outcome.items[0].error.code == IoError.code
    assert list(desk.ids(other)) == ["b.md"]


def test_documents_in_a_folder_that_cannot_be_listed_stay(desk, monkeypatch):
    desk.write("a.md", "one")
    desk.write("locked/b.md", "two")
    desk.ingest()
    listing = os.scandir

    def refuse(path):
        if path.endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(os, "scandir", refuse)

    outcome = desk.again()

    assert counts(outcome) == {"unchanged": 1}
    assert outcome.skipped_by_reason == {"unreadable": 1}
    assert sorted(desk.ids()) == ["a.md", "locked/b.md"]


def test_a_source_within_the_root_is_left_to_itself(desk):
    desk.write("sub/b.md", "two")
    desk.ingest("sub")
    inner = desk.ids(desk.root / "sub")
    desk.write("a.md", "one")

    outcome = desk.ingest()

    assert counts(outcome) == {"new": 1}
    assert outcome.skipped_by_reason == {"other_source": 1}
    assert desk.ids(desk.root / "sub") == inner
    assert counts(desk.again()) == {"unchanged": 2}


def test_files_named_below_a_folder_stay_their_own_source(desk):
    desk.write("sub/a.md", "one")
    desk.write("sub/b.md", "two")
    desk.ingest("sub/a.md")

    outcome = desk.ingest()

    assert counts(outcome) == {"new": 1}
    assert list(desk.ids()) == ["sub/b.md"]
    assert counts(desk.again()) == {"unchanged": 2}


def test_a_file_named_against_the_ignore_rules_stays(desk):
    desk.write("a.md", "one")
    desk.write(".hidden.md", "two")
    desk.ingest()

    assert counts(desk.ingest(".hidden.md")) == {"new": 1}
    assert counts(desk.again()) == {"unchanged": 2}
    (desk.root / ".hidden.md").unlink()
    assert counts(desk.again()) == {"removed": 1, "unchanged": 1}
    desk.write(".hidden.md", "three")
    assert counts(desk.again()) == {"unchanged": 1}


SECRETS = ScanRules(secret_files=("*",))


def test_the_only_named_file_with_secrets_is_an_error_unless_it_is_known(desk):
    desk.write("credentials", "key")

    with pytest.raises(SecretFile) as caught:
        desk.ingest("credentials")
    assert caught.value.setting == "ingest.secret_files"

    assert counts(desk.ingest("credentials", rules=SECRETS)) == {"new": 1}
    outcome = desk.ingest("credentials")
    assert counts(outcome) == {"removed": 1}
    assert outcome.skipped_by_reason == {"secret": 1}


def test_a_file_with_secrets_is_removed_when_the_rules_no_longer_ask_for_it(desk):
    desk.write("a.md", "one")
    desk.write("credentials", "key")
    desk.ingest(rules=SECRETS)

    outcome = desk.again()

    assert counts(outcome) == {"removed": 1, "unchanged": 1}
    assert outcome.skip_examples == {"secret": ["credentials"]}


def test_of_a_text_above_the_limit_the_first_part_is_stored_until_the_limit_rises(desk):
    desk.write("a.md", "first words\n\n" + "later words\n\n" * 9)
    rules = ScanRules(max_file_bytes=20)

    (item,) = desk.ingest("a.md", rules=rules).items
    again = desk.ingest("a.md", rules=rules)
    (raised,) = desk.ingest("a.md", rules=ScanRules(max_file_bytes=999)).items

    cut = "only the first 20 of 130 bytes are searched, see `ingest.max_file_bytes`"
    assert (item.kind, item.warnings) == ("new", [cut])
    assert again.unchanged == 1
    assert (raised.kind, raised.warnings) == ("updated", [])


class Refusing:
    version = "refusing-v1"

    def parse(self, data, path):
        if b"bad" in data:
            raise ParseFailed(path=path, parser=self.version, cause="it is bad")
        return ParsedDocument(text="", title=path, blocks=())


def test_one_bad_file_is_an_item_and_the_run_goes_on(desk):
    desk.parsers["text/markdown"] = Refusing()
    desk.write("a.md", "good")
    desk.write("b.md", "bad")
    desk.write("c.md", "good")

    outcome = desk.ingest()

    assert counts(outcome) == {"new": 2, "errors": 1}
    (item,) = (item for item in outcome.items if item.kind == "error")
    assert (item.doc_path, item.error.code) == ("b.md", ParseFailed.code)
    for report in (outcome, desk.again()):  # it has a document by whose name it is found
        assert report.errors == 1
        assert set(desk.ids()) == {"a.md", "b.md", "c.md"}
        assert set(desk.library.load_listing(str(desk.root)).unread) == {"b.md"}
    desk.write("b.md", "bad still")
    assert desk.again().errors == 1
    assert desk.library.load_known_documents(str(desk.root))["b.md"].size == 9
    desk.write("b.md", "good")
    assert counts(desk.again()) == {"updated": 1, "unchanged": 2}
    assert not desk.library.load_listing(str(desk.root)).unread


def test_a_document_whose_new_content_is_refused_stays_as_it_was(desk):
    desk.parsers["text/markdown"] = Refusing()
    desk.write("a.md", "good")
    desk.ingest()
    before = desk.ids()
    desk.write("a.md", "bad now")

    assert counts(desk.again()) == {"errors": 1}
    assert desk.ids() == before


def test_force_reads_everything_again_and_keeps_ids_and_vectors(desk):
    desk.write("a.md", "one")
    desk.ingest()
    before = desk.ids()
    del desk.embedder.embedded[:]

    assert counts(desk.again(force=True)) == {"updated": 1}
    assert desk.ids() == before
    assert desk.embedder.embedded == []


def test_a_model_that_is_too_slow_leaves_chunks_pending_until_a_later_run(desk):
    class Slow(HashingEmbedder):
        def embed_passages(self, texts):
            raise TimedOut(
                operation="embedding a batch",
                elapsed_ms=60_001,
                deadline_ms=60_000,
                setting="models.embedding.deadline_s",
            )

    model, desk.embedder = desk.embedder, Slow()
    desk.write("a.md", "one")

    outcome = desk.ingest()

    assert (outcome.new, outcome.embedding.pending) == (1, 1)
    assert outcome.embedding.unavailable.startswith("embedding a batch took longer")
    assert outcome.embedding.hint == "export KEBAB_MODELS_EMBEDDING_DEADLINE_S=120"

    desk.embedder = model
    again = desk.again().embedding
    assert (again.embedded, again.pending, again.unavailable) == (1, 0, None)


def test_a_damaged_model_leaves_chunks_pending(desk):
    class Damaged(HashingEmbedder):
        def embed_passages(self, texts):
            raise EmbeddingUnavailable(model="m", tried=[], cause="the file is damaged")

    desk.embedder = Damaged()
    desk.write("a.md", "one")

    outcome = desk.ingest()

    assert (outcome.new, outcome.embedding.pending) == (1, 1)
    assert outcome.embedding.unavailable == "the file is damaged"
    assert outcome.embedding.hint == "kebab model pull m"
    said = [event.message for event in desk.events if event.message]
    assert said == ["no passage is embedded in this run, new ones are found by words"]
    assert desk.events[-1].kind is ProgressKind.COMPLETED


def test_another_model_is_refused_before_anything_is_written(desk):
    desk.write("a.md", "one")
    desk.ingest()
    desk.embedder = HashingEmbedder(version="another-v1")
    desk.write("b.md", "two")

    with pytest.raises(EmbeddingMismatch) as caught:
        desk.again()

    assert caught.value.found == "hashing-words-384-v1"
    assert caught.value.expected == "another-v1"
    assert list(desk.ids()) == ["a.md"]
    assert kinds(desk)[-1] is ProgressKind.ABORTED


def test_a_cancel_after_a_document_keeps_the_stored_documents(desk):
    for number in range(5):
        desk.write(f"{number}.md", f"text {number}")
    cancel = Cancel()

    def stop(event):
        desk.events.append(event)
        if event.kind is ProgressKind.ASSET_FINISHED and event.done == 2:
            cancel.request()

    request = IngestJob(paths=(str(desk.root),))
    outcome = run_ingest(request, desk.ports(), stop, cancel)

    assert outcome.cancelled
    assert counts(outcome) == {"new": 2}
    assert outcome.embedding.pending == 2
    assert Counter(kinds(desk))[ProgressKind.ABORTED] == 1
    assert counts(desk.again()) == {"new": 3, "unchanged": 2}
    assert desk.library.count_pending() == 0


def test_a_file_that_vanishes_after_the_scan_is_gone(desk):
    desk.write("a.md", "one")
    desk.write("b.md", "two")
    desk.ingest()
    desk.write("a.md", "one, changed")

    def vanish(event):
        if event.kind is ProgressKind.ASSET_STARTED:
            (desk.root / "a.md").unlink()

    outcome = run_ingest(IngestJob(paths=(str(desk.root),)), desk.ports(), vanish)

    assert counts(outcome) == {"removed": 1, "unchanged": 1}
    assert list(desk.ids()) == ["b.md"]


def test_damaged_names_of_files_remove_no_document(desk):
    desk.write(".hidden.md", "text")
    desk.write("a.md", "more")
    desk.ingest(".hidden.md")
    desk.library.set_value(build_named_files_key(str(desk.root)), "[1")

    desk.ingest()

    assert set(desk.ids()) == {".hidden.md", "a.md"}


def test_without_memory_for_the_index_words_are_stored(desk):
    class Large(MemoryVectors):
        def append(self, rows):
            raise OutOfMemory(operation="ingest", limit_bytes=1)

    desk.tables[desk.embedder.profile.version] = Large()
    desk.write("a.md", "one")

    counted = desk.ingest().embedding

    assert (counted.embedded, counted.reused, counted.pending) == (0, 0, 1)
    assert counted.unavailable is not None
