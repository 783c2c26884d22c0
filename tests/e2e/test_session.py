"""Whole sessions, and what only real processes show: the contract as a caller meets it."""

import os
import shutil
import signal
import subprocess

import pytest

from tests.fakes.waiting import read_until

BACKUP = "# Backup\n\nRestore the database from the snapshot.\n\n## Tapes\n\nTapes are old.\n"


def test_from_nothing_to_an_index_and_back_to_nothing(local):
    local.write("ops/backup.md", BACKUP)
    local.write("cat.txt", "the cat sleeps on the mat\n")
    local.write("각주.md", "# 각주\n\n각주는 문서의 끝에 있는 설명이다.\n")

    assert local.json("schema")["stats"]["doc_count"] == 0
    assert local.fails("not_indexed", "search", "cat", status=3)["details"]["found"] is None
    assert local.json("init", "--workspace", local.notes)["written"]
    report = local.json("ingest")
    assert (report["new"], report["errors"]) == (3, 0)

    hit = local.json("search", "restore the database")["hits"][0]
    span = hit["citation"]["line"]
    [fetched] = local.json("fetch", hit["chunk_id"])["results"]
    assert hit["doc_path"] == "ops/backup.md"
    assert fetched["text"] == "\n".join(BACKUP.splitlines()[span["start"] - 1 : span["end"]])
    assert local.json("search", "각주")["hits"][0]["lang"] == "ko"
    assert local.json("list")["total"] == 3
    assert local.json("inspect", "doc", "ops/backup.md")["document"]["title"] == "Backup"
    assert local.json("inspect", "chunk", hit["chunk_id"][:12])["text"] == fetched["text"]
    assert local.json("fetch", "ops/backup.md:3")["results"][0]["text"] == BACKUP.splitlines()[2]
    cursor = local.json("search", "the", "--limit", "1")["next_cursor"]
    local.write("cat.txt", "the dog runs in the park\n")
    assert local.json("fetch", "cat.txt")["results"][0]["freshness"] == "changed"
    assert [item["kind"] for item in local.json("ingest")["items"]] == ["updated"]
    local.fails("stale_cursor", "search", "the", "--limit", "1", "--cursor", cursor)
    assert local.json("search", "dog")["hits"][0]["doc_path"] == "cat.txt"
    assert local.json("rm", "ops/backup.md")["returns"]
    assert local("inspect", "doc", "ops/backup.md", "--json", status=1).reply["found"] is False
    assert local.json("ingest")["new"] == 1

    local.fails("confirmation_required", "reset")
    assert local.json("reset", "--yes")["kept"] == []
    assert not local.data.exists()
    assert sorted(path.name for path in local.notes.iterdir()) == ["cat.txt", "ops", "각주.md"]
    local.fails("not_indexed", "search", "cat", status=3)


def test_two_writers_one_is_locked_and_readers_go_on(cli, read_lines):
    cli.write("first.md", "the cat\n")
    cli.json("ingest", cli.notes)
    for number in range(400):
        cli.write(f"many/{number}.md", f"note {number}\n")
    writer = cli.start("ingest", cli.notes, "--json")
    seen = read_until(writer.stderr, b'"asset_started"')
    os.kill(writer.pid, signal.SIGSTOP)
    try:
        locked = cli.fails("locked", "ingest", cli.notes)
        hits = cli.json("search", "cat")["hits"]
        cli.fails("locked", "reset", "--yes")
    finally:
        os.kill(writer.pid, signal.SIGCONT)
    out, err = writer.communicate(timeout=60)

    assert locked["details"]["holder_pid"] == writer.pid
    assert [hit["doc_path"] for hit in hits] == ["first.md"]
    assert writer.returncode == 0
    assert read_lines(out)[0]["new"] == 400
    assert read_lines(seen + err)[-1]["kind"] == "completed"


@pytest.mark.skipif(shutil.which("bash") is None, reason="the pipe is a shell's")
def test_a_reader_that_goes_away_is_quietly_accepted(local):
    local.write("long.txt", "a long line about the cat\n" * 20_000)
    local("ingest", local.notes)
    queries = local.folder / "queries"
    queries.write_text('"cat"\n' * 300)
    kebab = " ".join(str(part) for part in local.command())
    for command in ("fetch long.txt", "fetch long.txt --json", "search --bulk"):
        script = f"{kebab} {command} <{queries} | head -c 10 >/dev/null; exit ${{PIPESTATUS[0]}}"
        ended = subprocess.run(
            ["bash", "-c", script],
            env=local.environment,
            cwd=local.folder,
            capture_output=True,
            check=False,
        )

        assert (ended.returncode, ended.stderr) == (141, b""), command


def test_ctrl_c_stops_after_the_document_and_reports(cli, read_lines):
    for number in range(300):
        cli.write(f"{number}.md", f"note {number}\n")
    writer = cli.start("ingest", cli.notes, "--json")
    seen = read_until(writer.stderr, b'"asset_finished"')
    writer.send_signal(signal.SIGINT)
    out, err = writer.communicate(timeout=60)
    (report,) = read_lines(out)

    assert (writer.returncode, report["exit_code"], report["cancelled"]) == (130, 130, True)
    assert 0 < report["new"] < 300
    assert read_lines(seen + err)[-1]["kind"] == "aborted"
    assert cli.json("list", "--limit", "1")["total"] == report["new"]
    assert cli.json("ingest")["new"] == 300 - report["new"]
