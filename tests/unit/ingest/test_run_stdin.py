import pytest

from kebab.core.files import ScanRules
from kebab.core.progress import ProgressKind
from kebab.errors.catalog import IoError, ParseFailed
from kebab.ingest.job import IngestJob, TextNote
from kebab.ingest.run import build_file_name, build_file_text, ingest_text
from kebab.parse.markdown import MarkdownParser


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
    return ingest_text(one, IngestJob(**options), desk.ports(), desk.events.append).report


def test_a_text_becomes_a_document_with_its_title(desk, folder):
    outcome = store(desk, note(folder, uri="https://example.org/x"))

    (path,) = folder.iterdir()
    assert outcome.new == 1
    (source,) = desk.library.list_sources()
    assert (source.name, source.kind, source.root) == ("stdin", "stdin", str(folder))
    (chunk,) = desk.library.load_chunks(list(desk.library.list_committed_keys()))
    assert (chunk.title, chunk.path, chunk.text) == ("A title", path.name, "some text")


def test_the_same_title_and_uri_replace_the_text(desk, folder):
    store(desk, note(folder))

    assert store(desk, note(folder, "another text")).updated == 1
    assert store(desk, note(folder, "another text", uri="x:y")).new == 1
    assert len(list(folder.iterdir())) == 2


def test_a_text_remains_after_the_next_run_over_everything(desk, folder):
    store(desk, note(folder))

    assert desk.again().unchanged == 1


def test_front_matter_of_the_text_is_kept_and_its_title_replaced(folder):
    text = "---\ntitle: Old\ntags: [x]\n---\nbody\n"

    parsed = MarkdownParser().parse(build_file_text(note(folder, text)).encode(), "a.md")

    assert (parsed.title, parsed.metadata.tags) == ("A title", ("x",))
    assert "Old" not in parsed.text


def test_toml_front_matter_stays_toml(folder):
    text = '+++\ntitle = "Old"\ntags = ["x"]\n+++\nbody\n'

    parsed = MarkdownParser().parse(build_file_text(note(folder, text, uri="u:v")).encode(), "a.md")

    assert (parsed.title, parsed.metadata.tags, parsed.warnings) == ("A title", ("x",), ())


@pytest.mark.parametrize(
    "title",
    ['quote " and \\ slash', "colon: value", "\U0001f600 emoji", "# hash", "한글", "- dash", "{a}"],
)
def test_any_title_comes_back_as_it_was(folder, title):
    parsed = MarkdownParser().parse(build_file_text(note(folder, title=title)).encode(), "a.md")

    assert parsed.title == title
    assert parsed.warnings == ()


@pytest.mark.parametrize(
    "title", ["", "...", "/etc/passwd", "../up", "a\0b", "x" * 500, "한" * 500]
)
def test_any_title_gives_a_plain_file_name(folder, title):
    name = build_file_name(note(folder, title=title))

    assert name == name.replace("/", "").replace("\0", "").lstrip(".")
    assert len(name.encode()) < 130
    assert name.endswith(".md")


def test_titles_that_look_alike_have_files_of_their_own(folder):
    assert build_file_name(note(folder, title="A b")) != build_file_name(note(folder, title="a-b"))


@pytest.mark.parametrize(("text", "counts"), [("some text", (0, 0, 1)), ("new text", (0, 1, 0))])
def test_a_dry_run_compares_with_what_is_stored(desk, folder, text, counts):
    assert store(desk, note(folder), dry_run=True).new == 1
    assert not folder.exists()
    store(desk, note(folder))
    del desk.events[:]

    outcome = store(desk, note(folder, text), dry_run=True)

    assert (
        outcome.new,
        outcome.updated,
        outcome.unchanged,
    ) == counts
    kinds = [event.kind for event in desk.events]
    assert kinds == [ProgressKind.SCAN_STARTED, ProgressKind.COMPLETED]


def test_a_folder_that_cannot_be_made_is_an_error(desk, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(IoError) as caught:
        store(desk, note(tmp_path / "file" / "stdin"))

    assert caught.value.op == "write"


def test_lone_surrogates_do_not_stop_a_text(desk, folder):
    assert store(desk, note(folder, "bad \ud800 text", title="t \udce9")).new == 1


def test_a_title_does_not_count_towards_the_limit_that_a_text_was_held_to(desk, folder):
    held = store(desk, note(folder, "x" * 90), rules=ScanRules(max_file_bytes=100))

    assert held.new == 1


def test_a_text_that_its_parser_refuses_is_not_stored(desk, folder, refusing):
    with pytest.raises(ParseFailed):
        store(desk, note(folder, refusing))

    assert list(folder.iterdir()) == []
    assert desk.again().errors == 0


def test_a_text_that_its_parser_refuses_leaves_the_one_before(desk, folder, refusing):
    store(desk, note(folder, "some text"))
    with pytest.raises(ParseFailed):
        store(desk, note(folder, refusing))

    (path,) = folder.iterdir()
    assert "some text" in path.read_text()
    assert desk.again().unchanged == 1
