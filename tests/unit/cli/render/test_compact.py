import pytest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.compact import (
    find_best_line,
    format_openable_path,
    merge_adjacent,
    render_compact,
    render_notes,
    render_paths,
    render_vimgrep,
)
from kebab.cli.render.hits import describe_left_out
from kebab.wire.citation import PageCitation, PageSpan, SectionCitation, SectionSpan
from kebab.wire.search import DegradedChannel, IndexRefresh, LeftOut, UnmatchedFilter
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


def test_a_passage_of_one_line_has_a_reference_to_one_line():
    assert drawn(passage(5, 5, "x"))[2].startswith("ops/backup.md#L5 [")


def test_a_heading_at_the_beginning_of_a_passage_is_not_repeated():
    hit = passage(text="## `Restoring`:\n\nStop the writer.")

    assert drawn(hit)[2:4] == ["ops/backup.md#L12-L13 [strong] Backups", "## `Restoring`:"]


def test_headings_that_a_reference_to_a_section_names_are_not_repeated():
    uri = "a.html#What%20is%20it%3F/Rules"
    section = SectionCitation(path="a.html", uri=uri, section=SectionSpan(title="Rules"))
    hit = passage(citation=section, title="The Book", heading_path=["The Book", "What is it?"])

    assert drawn(hit)[2] == "ops/backup.md#What%20is%20it%3F/Rules [strong] The Book"


@pytest.mark.parametrize("title", ["backup.md", "backup", "Backup"])
def test_a_title_that_is_the_name_of_the_file_is_not_repeated(title):
    hit = passage(path="ops/backup.md", title=title, heading_path=["Restoring"])

    assert drawn(hit)[2] == "ops/backup.md#L12-L13 [strong] Restoring"


def test_the_same_text_appears_once():
    copy = passage(path="old/backup.md", doc_id="e" * 32)
    lines = drawn(passage(), copy)

    assert lines.count("then restore.") == 1
    assert lines[5:] == [
        "",
        "old/backup.md#L12-L13 [strong] Backups > Restoring",
        "the same text as ops/backup.md#L12-L13",
    ]


def test_the_rule_below_a_header_is_left_out_where_no_file_has_it():
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    page = PageCitation(path="a.pdf", uri="a.pdf#page=3", page=PageSpan(number=3, of=9))

    assert drawn(passage(text=table, citation=page))[3:] == ["| a | b |", "| 1 | 2 |"]
    assert drawn(passage(text=table))[3:] == table.split("\n")


def test_title_and_headings_appear_once_each():
    hit = passage(title="T", heading_path=["T", "A", "A"])

    assert drawn(hit)[2].endswith("[strong] T > A")


@pytest.mark.parametrize(
    ("freshness", "words"),
    [
        ("fresh", "[strong]"),
        ("changed", "[strong, changed since]"),
        ("gone", "[strong, file is gone]"),
    ],
)
def test_only_a_file_that_is_not_fresh_is_noted(freshness, words):
    assert words in drawn(passage(freshness=freshness))[2]


def test_a_path_is_quoted_so_that_a_reference_is_one_word():
    hit = passage(path="my notes/여행 (1).md")

    assert drawn(hit)[2].startswith("my%20notes/여행%20%281%29.md#L12-L13 [")


def test_a_file_of_another_source_has_an_absolute_reference():
    other = passage(source="more", file="/home/ada/more/a.md", path="a.md", doc_id="e" * 32)

    lines = drawn(passage(), other)

    assert lines[0].startswith("2 passages in notes ")
    assert lines[6].startswith("/home/ada/more/a.md#L12-L13 [")


def test_text_from_standard_input_has_its_name_as_reference():
    other = passage(source="stdin", file=None, path="talk", doc_id="e" * 32)

    assert drawn(passage(), other)[6].startswith("talk#L12-L13 [")


def test_a_citation_without_lines_keeps_its_fragment():
    page = PageCitation(path="a.pdf", uri="a.pdf#page=3", page=PageSpan(number=3, of=9))
    hit = passage(path="a.pdf")
    hit = replies.hit(text="x", doc_path="a.pdf", citation=page)

    assert drawn(hit)[2].startswith("a.pdf#page=3 [strong]")


def test_neighbours_in_one_section_are_one_block_in_the_order_of_the_file():
    late, early = passage(15, 16, "c\nd", confidence="fair"), passage(12, 13, "a\nb")
    touching = passage(17, 17, "e")

    lines = drawn(late, early, touching)

    assert lines[0].startswith("3 passages ")
    assert lines[2:] == [
        "ops/backup.md#L12-L17 [strong] Backups > Restoring",
        *["a", "b", "", "c", "d", "e"],
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"heading_path": ["Backups", "Else"]},
        {"doc_id": "e" * 32},
        {"start": 16, "end": 17},
    ],
)
def test_other_passages_are_not_merged(other):
    assert len(merge_adjacent([passage(12, 13), passage(**{"start": 15, "end": 16, **other})])) == 2


def test_a_block_stands_where_its_best_passage_was_found():
    blocks = merge_adjacent(
        [
            passage(90, 91, rank=1),
            passage(20, 21, rank=2),
            passage(50, 51, rank=3),
            passage(23, 24, rank=4),
        ]
    )

    assert [block.lines for block in blocks] == [(90, 91), (20, 24), (50, 51)]


def test_control_characters_are_replaced_and_tabs_stay():
    assert drawn(passage(text="a\t\x1b[2Jb\u202e"))[3] == "a\t\ufffd[2Jb\ufffd"


def test_matches_are_painted_with_colour_only():
    hit = passage(text="ab\n\ncd ef", text_highlights=[(4, 6)])

    assert "\x1b" not in "".join(drawn(hit))
    assert drawn(hit, canvas=Canvas(color=True))[3:] == [
        "ab",
        "",
        "\x1b[33m\x1b[1mcd\x1b[0m ef",
    ]


def test_notes_are_at_the_end_after_a_blank_line():
    weak = passage(confidence="weak")

    lines = drawn(weak, convincing=False, next_page="kebab search x --page 2")

    assert lines[-3:] == [
        "",
        "nothing convincing: these passages are likely on other matters",
        "more: kebab search x --page 2",
    ]


def weak(start, rank=1, **changes):
    return passage(start, start, chunk_id=f"{start:032x}", confidence="weak", rank=rank, **changes)


def test_weak_passages_are_references_below_the_others():
    lines = drawn(passage(40, 41), weak(12), weak(90))

    assert lines[0].startswith("3 passages ")
    assert lines[2:] == [
        "ops/backup.md#L40-L41 [strong] Backups > Restoring",
        *["Stop the writer,", "then restore.", ""],
        "ops/backup.md#L12 [weak] Backups > Restoring",
        "ops/backup.md#L90 [weak] Backups > Restoring",
    ]


def test_the_first_weak_passage_of_each_query_has_its_text():
    hits = [weak(9, queries=[0]), weak(40, 2, queries=[1]), weak(70, 3, queries=[0, 1])]

    lines = drawn(*hits, queries=["a", "b"], convincing=False)

    assert lines.count("then restore.") == 1  # the same text is named the second time
    assert "the same text as ops/backup.md#L9" in lines
    assert "ops/backup.md#L70 [weak q1 q2] Backups > Restoring" in lines


def test_of_weak_passages_only_the_nearest_are_listed():
    reply = replies.response(*(weak(n * 9, n) for n in range(1, 6)), convincing=False)

    near = list(render_compact(reply, Canvas(), whole_page="--all"))
    whole = list(render_compact(reply, Canvas(), shows_weak=True))

    assert (near[0][:11], sum("[weak]" in line for line in near)) == ("3 passages ", 3)
    assert "2 weaker hits: --all" in near
    assert (sum("[weak]" in line for line in whole), whole.count("then restore.")) == (5, 1)


def test_no_hit_and_a_missing_channel_are_said():
    missing = DegradedChannel(channel="vector", reason="no model", hint="kebab doctor")

    assert drawn(degraded=[missing]) == [
        "no passages (revision 7) for: restore",
        "note: no search by meaning: no model",
        "hint: kebab doctor",
        "",
        "try other words, or drop a filter",
    ]


def test_several_queries_are_numbered():
    both, second = passage(queries=[0, 1]), passage(40, 41, queries=[1])

    lines = drawn(both, second, query="a | b", queries=["a", "b"])

    assert lines[:3] == ["2 passages in notes (revision 7) for:", "q1: a", "q2: b"]
    assert [line.partition("]")[0] for line in lines if line.startswith("ops/")] == [
        "ops/backup.md#L12-L13 [strong q1 q2",
        "ops/backup.md#L40-L41 [strong q2",
    ]


def test_a_query_without_a_convincing_passage_is_said():
    hits = [passage(queries=[0]), passage(40, 41, queries=[1], confidence="weak")]

    lines = drawn(*hits, queries=["a", "b"], convincing_queries=[0])

    assert lines[-1] == "nothing convincing for q2"


def test_a_convincing_query_whose_passages_a_limit_cut_is_called_cut():
    lines = drawn(passage(queries=[0]), queries=["a", "b"], convincing_queries=[0, 1])

    assert lines[-1] == "left out by a limit of this search: the passages for q2"


def test_words_that_occur_nowhere_are_said():
    assert drawn(passage(), absent_terms=["zeppelin", "여행"])[-1] == (
        "not in your notes: zeppelin, 여행"
    )


def test_what_the_budget_left_out_is_said():
    left_out = LeftOut(hits=3, tokens=700)

    assert drawn(passage(), left_out=left_out)[-1] == (
        "left out by --max-tokens: 3 hits, about 700 tokens"
    )


@pytest.mark.parametrize(("hits", "what"), [(3, "3 hits"), (0, "parts of the hits")])
def test_the_queries_whose_hits_the_budget_left_out_are_named(hits, what):
    left_out = LeftOut(hits=hits, tokens=700, queries=[0, 2])

    assert describe_left_out(left_out, Canvas()) == (
        f"left out by --max-tokens: {what} for q1 q3, about 700 tokens"
    )


def test_a_filter_that_matches_nothing_is_explained():
    filters = [UnmatchedFilter(filter="tag", value="opps", nearest=["ops"], documents=0)]

    lines = drawn(unmatched_filters=filters, hint="kebab search x --tag ops")

    assert lines[1:] == [
        "",
        "note: no document passes `--tag opps`",
        "  nearest: ops",
        "hint: kebab search x --tag ops",
    ]


def test_no_absence_is_stated_that_is_not_covered():
    found = replies.coverage(new=1)
    weak = passage(confidence="weak")

    empty = drawn(coverage=found, absent_terms=["fjord"], convincing=False)
    near = drawn(weak, coverage=found, convincing=False)

    assert "not in the files that are read: fjord (1 new file is not read yet)" in empty
    assert not any("your notes" in line for line in empty)
    assert near[-1].startswith("nothing convincing so far (1 new file is not read yet): ")


def test_good_passages_come_with_what_is_known_to_be_missing():
    assert "note: 1 new file is not read yet" in drawn(passage(), coverage=replies.coverage(new=1))


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


def test_each_path_appears_once_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hits = [hit(file=f"{tmp_path}/{name}.md") for name in ("b", "a", "b")]

    assert list(render_paths(replies.response(*hits), Canvas())) == ["b.md", "a.md"]


def test_a_path_opens_from_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")

    assert format_openable_path(f"{tmp_path}/in/a/b.md", "b.md") == "a/b.md"
    assert format_openable_path(f"{tmp_path}/inner/b.md", "b.md") == f"{tmp_path}/inner/b.md"
    assert format_openable_path(None, "talk") == "talk"


def test_a_path_is_absolute_when_the_working_directory_is_gone(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert format_openable_path(f"{gone}/a.md", "a.md") == f"{gone}/a.md"


def test_a_terminal_gets_paths_without_control_characters():
    odd = replies.response(hit(file="/x/\x1b[2J.md"))

    assert list(render_paths(odd, Canvas(width=80))) == ["/x/\ufffd[2J.md"]
    assert list(render_paths(odd, Canvas())) == ["/x/\x1b[2J.md"]


def test_the_line_with_the_most_different_matches_is_shown():
    assert find_best_line(hit()) == (15, 5, "the snapshot, then Restore")


def test_the_column_counts_bytes():
    assert find_best_line(hit(text_highlights=[(14, 19)])) == (14, 8, "여행 first")


def test_a_passage_without_matches_shows_its_first_line_with_text():
    assert find_best_line(hit(text_highlights=[])) == (12, 1, "# Restore")


def test_a_hit_is_a_line_for_an_editor(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    reply = replies.response(hit(file=f"{tmp_path}/a b.md"))

    assert list(render_vimgrep(reply, Canvas())) == ["a b.md:15:5:the snapshot, then Restore"]


@pytest.mark.parametrize("canvas", [Canvas(), Canvas(width=80, color=True)])
def test_a_citation_without_lines_begins_at_line_1(canvas):
    page = PageCitation(path="a.pdf", uri="a.pdf#page=3", page=PageSpan(number=3, of=9))

    [line] = render_vimgrep(
        replies.response(hit(citation=page, text="x", text_highlights=[], file="/a.pdf")), canvas
    )

    assert line == "/a.pdf:1:1:x"


def test_notes_on_lines_say_what_is_missing():
    missing = DegradedChannel(channel="vector", reason="no model", hint="kebab doctor")
    reply = replies.response(
        hit(), degraded=[missing], convincing=False, left_out=LeftOut(hits=1, tokens=9)
    )

    assert list(render_notes(reply, Canvas(), "kebab search x --page 2")) == [
        "note: no search by meaning: no model",
        "hint: kebab doctor",
        "note: nothing convincing",
        "left out by --max-tokens: 1 hit, about 9 tokens",
        "more: kebab search x --page 2",
    ]


def test_notes_name_absent_words_and_an_index_that_is_not_up_to_date():
    refresh = IndexRefresh(folder="/n", refreshed=False, reason="`--read-only`")
    reply = replies.response(absent_terms=["zeppelin"], refresh=refresh)

    assert list(render_notes(reply, Canvas(), "")) == [
        "note: the index was not brought up to date: `--read-only`",
        "note: not in your notes: zeppelin",
    ]


def test_the_notes_state_no_absence_that_is_not_covered():
    found = replies.coverage(failed=1, checked=5002)

    empty = list(render_notes(replies.response(coverage=found), Canvas(), ""))
    good = list(render_notes(replies.response(hit(), coverage=found), Canvas(), ""))

    assert empty == ["note: no results so far (1 file could not be read)"]
    assert good == ["note: 1 file could not be read"]
