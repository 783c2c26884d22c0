"""Ingests mutated files of every format, and reports what no file may cause.

    python -m tools.fuzz SAMPLES --count 10000 --seed 1

The files are built from samples by flips, cuts, repeats, splices and wrong names; those of zip
formats also inside their members. Every batch is one run of `kebab ingest --json`. A run must end
with a report that accounts for every file; no file may need longer than its deadline, write outside
of the data folder, or open a connection. An audit hook in every Python process records the last
two. Faults and passed deadlines are printed with the name of the file; the seed decides its bytes.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import kebab
from kebab.core.files import MEMBER_MARK
from tools.fuzz.mutations import mutate_file

BATCH = 250
_DEADLINE_S = 30
_RUN_LIMIT_S = 1800
_MAX_SAMPLE_BYTES = 200_000

_HOOK = """
import os, sys
_log = os.open(os.environ["FUZZ_LOG"], os.O_WRONLY | os.O_APPEND)
def _record(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        line = f"connect {arguments[1:]!r}"
    elif event == "open" and isinstance(arguments[0], (str, bytes)):
        mode, flags = arguments[1] or "", arguments[2] or 0
        if not (set("wax+") & set(mode) or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
            return
        line = f"write {os.path.abspath(os.fsdecode(arguments[0]))}"
    else:
        return
    os.write(_log, (line.replace("\\n", " ") + "\\n").encode(errors="replace"))
sys.addaudithook(_record)
"""


@dataclass(slots=True)
class Findings:
    """What the runs showed."""

    files: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    seconds: float = 0.0


def load_samples(folder: Path) -> list[tuple[str, bytes]]:
    """Return the names and the bytes of the samples, sorted by name."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [
        (path.name, path.read_bytes())
        for path in paths
        if path.stat().st_size <= _MAX_SAMPLE_BYTES and not path.name.startswith(".")
    ]


def write_batch(
    folder: Path, samples: Sequence[tuple[str, bytes]], seeds: range, seed: int
) -> None:
    """Write one mutated file for each number; some get the name of another format."""
    contents = [data for _, data in samples]
    for number in seeds:
        chance = random.Random(f"{seed}:{number}")  # noqa: S311 - no secret
        name, data = samples[number % len(samples)]
        if chance.random() < 0.1:  # noqa: PLR2004 - a tenth has a wrong name
            name = chance.choice(samples)[0]
        (folder / f"{number:06}-{name}").write_bytes(mutate_file(data, chance, contents))


def run_batch(work: Path, notes: Path, findings: Findings) -> None:
    """Ingest a batch, and record what its report and its processes show."""
    home, hooks, log = work / "home", work / "hooks", work / "log"
    for folder in (home, hooks):
        folder.mkdir(exist_ok=True)
    (hooks / "sitecustomize.py").write_text(_HOOK)
    log.write_bytes(b"")
    root = str(Path(kebab.__file__).parents[1])
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "TMPDIR": str(home),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "KEBAB_OFFLINE": "1",
        "KEBAB_INGEST_ARCHIVES": "all",
        "KEBAB_MODELS_DIR": str(home / "models"),
        "PYTHONPATH": os.pathsep.join((str(hooks), root)),
        "FUZZ_LOG": str(log),
    }
    command = [sys.executable, "-m", "kebab", "--json", "--data-dir", str(work / "data")]
    started = time.monotonic()
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [*command, "ingest", str(notes)],
            env=environment,
            cwd=home,
            capture_output=True,
            timeout=_RUN_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        findings.faults.append(f"the run did not end: {notes.name}")
        return
    findings.seconds += time.monotonic() - started
    _check_report(done, notes, findings)
    _check_log(log, work, findings)


def _check_report(
    done: subprocess.CompletedProcess[bytes], notes: Path, findings: Findings
) -> None:
    """Check that the report accounts for every file of the batch."""
    names = {path.name for path in notes.iterdir()}
    findings.files += len(names)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        last = done.stderr.decode(errors="replace")[-400:]
        findings.faults.append(f"no report, exit status {done.returncode}: {last}")
        return
    for item in report["items"]:
        findings.kinds[item["kind"]] += 1
        if item.get("error"):
            _record_error(item["error"]["code"], item["doc_path"], findings)
    accounted = sum(MEMBER_MARK not in item["doc_path"] for item in report["items"])
    accounted += sum(report["skipped_by_reason"].values())
    if accounted < len(names):
        findings.faults.append(f"{len(names) - accounted} files are not in the report")
    for slow in report["slowest"]:
        seconds = slow["duration_ms"] / 1000
        findings.slowest = max(findings.slowest, (seconds, slow["doc_path"]))
        if seconds > _DEADLINE_S + 5:
            findings.faults.append(f"{seconds:.0f} s: {slow['doc_path']}")


def _record_error(code: str, path: str, findings: Findings) -> None:
    """Count the error of a file; one that no parser raises is a fault."""
    findings.codes[code] += 1
    if code == "generic":
        findings.faults.append(f"generic: {path}")
    elif code != "parse_failed":
        findings.notes.append(f"{code}: {path}")


def _check_log(log: Path, work: Path, findings: Findings) -> None:
    """Check that no process wrote elsewhere or connected."""
    allowed = tuple(str(folder) for folder in (work, "/dev"))
    for line in log.read_text(errors="replace").splitlines():
        event, _, place = line.partition(" ")
        if event == "connect" or not place.startswith(allowed):
            findings.faults.append(line)


def fuzz(samples: Path, count: int, seed: int) -> Iterator[Findings]:
    """Run all batches; yield the findings after each."""
    loaded = load_samples(samples)
    findings = Findings()
    for start in range(0, count, BATCH):
        with tempfile.TemporaryDirectory(prefix="kebab-fuzz-") as folder:
            work = Path(folder)
            notes = work / "notes"
            notes.mkdir()
            write_batch(notes, loaded, range(start, min(start + BATCH, count)), seed)
            run_batch(work, notes, findings)
        yield findings


def format_findings(findings: Findings) -> str:
    """Return one line with the counts."""
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    kinds = ", ".join(f"{name} {count:,}" for name, count in findings.kinds.most_common())
    codes = ", ".join(f"{name} {count:,}" for name, count in findings.codes.most_common())
    seconds, slowest = findings.slowest
    return (
        f"{findings.files:,} files in {findings.seconds:.0f} s; {kinds}; errors: {codes or 'none'};"
        f" slowest {seconds:.1f} s {slowest}; largest process {memory:.0f} MB;"
        f" faults: {len(findings.faults)}"
    )


def main() -> int:
    """Run the program; return 1 when there is any fault."""
    parser = argparse.ArgumentParser(description="Ingest mutated files of every format.")
    parser.add_argument("samples", type=Path)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    findings = Findings()
    for findings in fuzz(arguments.samples, arguments.count, arguments.seed):
        print(format_findings(findings), flush=True)  # noqa: T201 - the output of the program
    for fault in (*findings.notes, *findings.faults):
        print(fault)  # noqa: T201 - the output of the program
    return 1 if findings.faults else 0
