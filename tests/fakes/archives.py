"""Builds archives of knowledge bases, and damages them."""

import hashlib
import tempfile
import zipfile
from contextlib import closing
from pathlib import Path

import apsw
import msgspec

from kebab.app.archive import export
from kebab.app.archive_import import import_archive
from kebab.app.ingest import ingest_text
from kebab.core.answers import AnswerMode, Turn
from kebab.core.progress import Cancel, ignore_progress
from kebab.wire.archive import ExportRequest, ImportRequest
from kebab.wire.ingest import IngestTextRequest


def fill(desk):
    desk.write("a.md", "# Snapshots\n\nHow to restore a snapshot of the database.\n")
    desk.write("b/c.md", "# Garden\n\nPlants want water, see [[a]].\n")
    desk.ingest()
    request = IngestTextRequest(text=b"The dentist moved to Friday.", title="Dentist")
    ingest_text(desk.context(), request, ignore_progress, Cancel())
    desk.context().session_store.add_turn(
        Turn(
            session="talk",
            index=0,
            question="cats?",
            standalone="cats?",
            answer="none",
            refusal=None,
            mode=AnswerMode.EXTRACTIVE,
            model=None,
            created=5.0,
        )
    )
    return desk


def write_archive(desk, name="base.zip", **fields):
    path = desk.folder / name
    return path, export(desk.context(), ExportRequest(path=str(path), **fields), ignore_progress)


def load(desk, path, **fields):
    return import_archive(desk.context(), ImportRequest(path=str(path), **fields), ignore_progress)


def read_members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def describe(desk):
    """Return what a person sees of a knowledge base, without times of this run."""
    found = desk.search("restore snapshot plants dentist", mode="hybrid")
    hits = [
        (hit.chunk_id, hit.doc_id, hit.doc_path, hit.citation, hit.freshness, hit.score)
        for hit in found.hits
    ]
    turns = desk.context().session_store.list_turns("talk")
    return hits, desk.documents(), turns


def rewrite(path, change, **names):
    """Write an archive again with other members; its manifest agrees with them."""
    members = read_members(path)
    manifest = msgspec.json.decode(members.pop("manifest.json"))
    change(members, manifest)
    listed = {one["name"]: one for one in manifest["members"]}
    for name, data in members.items():
        one = listed.get(name)
        if one is not None and not one.get("kept"):
            one |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    for one in manifest["members"]:
        one.pop("kept", None)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr("manifest.json", msgspec.json.encode(manifest))


def edit_index(sql):
    def change(members, _manifest):
        with tempfile.NamedTemporaryFile() as file:
            file.write(members["kebab.sqlite"])
            file.flush()
            with closing(apsw.Connection(file.name)) as database:
                database.execute(sql)
            members["kebab.sqlite"] = Path(file.name).read_bytes()

    return change


def add_member(name):
    def change(members, manifest):
        members[name] = b"x"
        manifest["members"].append({"name": name})

    return change


def flip(name):
    def change(members, manifest):
        one = next(one for one in manifest["members"] if one["name"] == name)
        data = bytearray(members[name])
        data[len(data) // 2] ^= 1
        members[name], one["kept"] = bytes(data), True

    return change
