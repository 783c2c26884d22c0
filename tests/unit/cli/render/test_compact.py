from kebab.cli.render.canvas import Canvas
from kebab.cli.render.compact import format_openable_path, render_compact, render_paths
from kebab.wire.record import LineSpan, SectionCitation, SectionSpan
from tests.fakes import replies

CODE = "Run it:\n\n```sh\n\tkebab  search x\n```"


def passage(start=12, end=13, text="Stop the writer,\nthen restore.", **changes):
    path = changes.pop("path", "ops/backup.md")
    return replies.hit(
        doc_path=path,
        citation=changes.pop("citation", replies.line_citation(path, start, end)),
        snippet="",
        highlights=[],
        text=text,
        text_highlights=changes.pop("text_highlights", []),
        **changes,
    )


def drawn(*hits, canvas=None, next_page="", **changes):
    return list(render_compact(replies.response(*hits, **changes), canvas or Canvas(), next_page))


def test_shared_values_appear_once_and_a_passage_keeps_its_lines():
    assert drawn(passage(), passage(40, 44, CODE, heading_path=["Backups", "Use"])) == [
        "2 passages in notes (revision 7) for: restore",
        "",
        "ops/backup.md#L12-L13 [strong] Backups > Restoring",
        "Stop the writer,",
        "then restore.",
        "",
        "ops/backup.md#L40-L44 [strong] Backups > Use",
        *CODE.split("\n"),
    ]


def test_a_passage_inside_of_another_one_is_not_counted():
    lines = drawn(passage(), passage(13, 13, None))

    assert lines[0].startswith("1 passage in notes ")
    assert len(lines) == 5


def test_headings_that_a_reference_to_a_section_names_are_not_repeated():
    uri = "a.html#What%20is%20it%3F/Rules"
    section = SectionCitation(path="a.html", uri=uri, section=SectionSpan(title="Rules"))
    hit = passage(citation=section, title="The Book", heading_path=["The Book", "What is it?"])

    assert drawn(hit)[2] == "ops/backup.md#What%20is%20it%3F/Rules [strong] The Book"


def test_the_same_text_appears_once():
    copy = passage(path="old/backup.md", doc_id="e" * 32)
    lines = drawn(passage(), copy)

    assert lines.count("then restore.") == 1
    assert lines[5:] == [
        "",
        "old/backup.md#L12-L13 [strong] Backups > Restoring",
        "the same text as ops/backup.md#L12-L13",
    ]


def test_a_path_is_quoted_so_that_a_reference_is_one_word():
    hit = passage(path="my notes/여행 (1).md")

    assert drawn(hit)[2].startswith("my%20notes/여행%20%281%29.md#L12-L13 [")


def test_a_file_of_another_source_has_an_absolute_reference():
    other = passage(source="more", path="a.md", doc_id="e" * 32)

    sources = {**replies.SOURCES, "more": "/home/ada/more"}
    lines = drawn(passage(), other, sources=sources)

    assert lines[0].startswith("2 passages in notes ")
    assert lines[6].startswith("/home/ada/more/a.md#L12-L13 [")


def test_notes_are_at_the_end_after_a_blank_line():
    weak = passage(confidence="weak")

    lines = drawn(weak, convincing=False, next_page="kebab search x --cursor C")

    assert lines[-3:] == [
        "",
        "nothing convincing: these passages are likely on other matters",
        "more: kebab search x --cursor C",
    ]


def weak(start, rank=1, **changes):
    return passage(start, start, chunk_id=f"{start:032x}", confidence="weak", rank=rank, **changes)


def test_passages_without_text_are_references_below_the_others():
    lines = drawn(weak(12, text=""), passage(40, 41), weak(90, text=""))

    assert lines[0].startswith("3 passages ")
    assert lines[2:] == [
        "ops/backup.md#L40-L41 [strong] Backups > Restoring",
        *["Stop the writer,", "then restore.", ""],
        "ops/backup.md#L12 [weak] Backups > Restoring; #L90 [weak] Backups > Restoring",
    ]


def test_a_passage_that_another_text_has_is_not_listed():
    lines = drawn(passage(10, 20), weak(12, text=""), weak(21, text=""))

    assert [line for line in lines if "[weak]" in line] == [
        "ops/backup.md#L21 [weak] Backups > Restoring"
    ]


def test_a_part_of_a_symbol_names_the_lines_of_the_whole():
    part = passage(symbol_lines=LineSpan(start=9, end=80))
    whole = passage(symbol_lines=LineSpan(start=12, end=13))

    assert drawn(part)[2] == "ops/backup.md#L12-L13 [strong] Backups > Restoring (L9-L80)"
    assert drawn(whole)[2] == "ops/backup.md#L12-L13 [strong] Backups > Restoring"


def test_of_weak_passages_only_the_nearest_and_those_with_text_are_listed():
    hits = [weak(n * 9, n) for n in range(1, 4)]
    hits += [weak(n * 9, n, text="") for n in (4, 5)]
    reply = replies.response(*hits, convincing=False)
    code = replies.response(*(weak(n * 9, n) for n in range(1, 6)), convincing=False)

    near = list(render_compact(reply, Canvas()))
    whole = list(render_compact(reply, Canvas(), shows_weak=True))

    assert (near[0][:11], sum("[weak]" in line for line in near)) == ("3 passages ", 3)
    assert "2 weaker hits: --all" in near
    assert (whole[0][:11], whole.count("then restore.")) == ("5 passages ", 1)
    assert next(render_compact(code, Canvas())).startswith("5 passages ")


def test_a_convincing_query_whose_passages_a_limit_cut_is_called_cut():
    lines = drawn(passage(queries=[0]), queries=["a", "b"], convincing_queries=[0, 1])

    assert lines[-1] == "left out by a limit of this search: the passages for q2"


def test_no_absence_is_stated_that_is_not_covered():
    found = replies.coverage(new=1)
    weak = passage(confidence="weak")

    empty = drawn(coverage=found, absent_terms=["fjord"], convincing=False)
    near = drawn(weak, coverage=found, convincing=False)

    assert "not in the files that are read: fjord (1 new file is not read yet)" in empty
    assert not any("your notes" in line for line in empty)
    assert near[-1].startswith("nothing convincing so far (1 new file is not read yet): ")


TEXT = "# Restore\n\n여행 first\nthe snapshot, then Restore\n"


def hit(**changes):
    return replies.hit(
        **{
            "text": TEXT,
            "text_highlights": [(2, 9), (14, 19), (24, 32), (39, 46)],
            "snippet": "",
            "highlights": [],
            **changes,
        }
    )


def test_a_path_opens_from_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")

    assert format_openable_path(f"{tmp_path}/in/a/b.md", "b.md") == "a/b.md"
    assert format_openable_path(f"{tmp_path}/inner/b.md", "b.md") == f"{tmp_path}/inner/b.md"
    assert format_openable_path(None, "talk") == "talk"


def test_a_terminal_gets_paths_without_control_characters():
    odd = replies.response(hit(doc_path="\x1b[2J.md"), sources={"notes": "/x"})

    assert list(render_paths(odd, Canvas(width=80))) == ["/x/\ufffd[2J.md"]
    assert list(render_paths(odd, Canvas())) == ["/x/\x1b[2J.md"]
