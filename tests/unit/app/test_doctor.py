import os

import pytest

from kebab.app.doctor import Checkup, DamagedLibrary, check_health
from kebab.core.progress import Cancel, ignore_progress
from kebab.doctor.checks import FIX
from kebab.embed.registry import E5_SMALL, MINILM
from kebab.wire.health import DoctorRequest, RepairRequest
from tests.fakes import tiny_model


def _checks(desk, **flags):
    told = check_health(desk.context(**flags), DoctorRequest())
    checks = {check.name: check for check in told.checks}
    assert told.ok == all(check.status != "fail" for check in told.checks)
    for check in told.checks:
        assert (check.fix is None) == (check.status in ("ok", "skip")), check
    return checks


def _failed(checks):
    return {name for name, check in checks.items() if check.status == "fail"}


def test_a_check_stands_once_behind_those_that_it_needs_and_its_fix_is_a_remedy(desk):
    context = desk.context()
    listed = Checkup(context).list_checks()
    names = [one.name for one in listed]
    library = DamagedLibrary(context, RepairRequest(), ignore_progress, Cancel())

    assert len({*names}) == len(names)
    assert all({*one.requires} <= {*names[:at]} for at, one in enumerate(listed))
    assert {one.name for one in listed if one.fix == FIX} == {*library.build_repairs().remedies}


def test_weights_of_another_model_are_detected(desk):
    tiny_model.install_model(MINILM, desk.folder / "models", seed=4)
    checks = _checks(desk)

    assert _failed(checks) == {"database", "embedding_probe"}
    assert "0.7553" in checks["embedding_probe"].summary


def test_keys_are_read_from_the_table_and_not_from_derived_files(full):
    for path in (full.data / "lance").rglob("data/*.lance"):
        path.unlink()

    assert "vectors" in _failed(_checks(full))


def test_weights_are_those_of_the_stored_model(full, desk):
    installed, gone = _checks(full), _checks(full, models_dir=str(desk.folder / "none"))

    assert installed["embedding_files"].summary.startswith(f"{E5_SMALL.key}: ")
    assert installed["embedding_probe"].status == "ok"
    assert (gone["embedding_files"].status, gone["embedding_probe"].status) == ("warn", "skip")


@pytest.mark.parametrize(
    ("provider", "installed", "start"),
    [
        ("ollama", True, "ollama serve"),
        ("ollama", False, "export KEBAB_MODELS_LLM_PROVIDER=extractive"),
        ("openai", True, "export KEBAB_MODELS_LLM_ENDPOINT=URL"),
    ],
)
def test_the_start_command_names_a_program_of_this_machine(
    desk, provider, installed, start, monkeypatch, tmp_path
):
    (tmp_path / "ollama").touch(0o755 if installed else 0o600)
    monkeypatch.setenv("PATH", str(tmp_path))
    context = desk.context(models__llm__provider=provider)

    (check,) = [one for one in Checkup(context).list_checks() if one.name == "language_model"]
    assert check.fix == start


def test_contents_are_compared_whatever_the_times_say(full):
    note, new = full.notes / "cat.md", full.notes / "new.md"
    full.write("photo.jpg", "found by its name, and never read\n")
    full.ingest()
    before = note.stat()
    note.write_text(note.read_text().replace("cat", "dog"))
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    new.write_text("new\n")

    quick = _checks(full)["files"]
    health = check_health(full.context(), DoctorRequest(files=True))
    check = next(check for check in health.checks if check.name == "files")

    assert "changed" not in quick.summary
    assert (check.status, check.fix, health.ok) == ("warn", "kebab ingest", True)
    assert f"1 changed: {note}" in check.summary
    assert f"1 new: {new}" in check.summary
    assert health.coverage is not None
    assert (health.coverage.complete, health.coverage.changed) == (False, 1)

    full.write("bad.pdf", "%PDF-1.4 broken")
    full.ingest()
    again = check_health(full.context(), DoctorRequest(files=True))
    summary = next(check.summary for check in again.checks if check.name == "files")
    assert summary == "`bad.pdf` could not be read"


def test_a_folder_that_cannot_be_used_is_a_finding(desk):
    health = check_health(desk.context(data_dir=str(desk.folder / "a\udcff")), DoctorRequest())

    assert [(check.name, check.status) for check in health.checks] == [
        ("configuration", "ok"),
        ("directories", "fail"),
    ]
