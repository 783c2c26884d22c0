"""Runs kinds of damage, or random bit flips, and prints what came of each.

`python -m tools.damage` runs every kind; `--flips 200` runs random flips instead, each of which
must end healthy and equal, or in words. It exits with 1 when anything differs from the table.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tools.damage.kinds import KINDS, Kind
from tools.damage.stage import Stage


def run_kind(stage: Stage, kind: Kind, *, short: bool = False) -> list[str]:
    """Damage the index, look at it, repair it and look again; return what is not as it must be.

    The plan of a dry run has the health that `doctor` finds; without `short` both are asked for.
    """
    stage.restore()
    kind.act(stage)
    wrong: list[str] = []
    plan = stage.call("doctor", "--fix", "--dry-run", *kind.flags, ok=(0, 3))
    health = plan["health"] if short else stage.call("doctor", ok=(0, 3))
    found = {one["name"]: one for one in health["checks"]}
    bad = {name: one for name, one in found.items() if one["status"] in ("warn", "fail")}
    if kind.check is None and bad:
        wrong.append(f"doctor finds {bad}")
    if kind.check is not None and found[kind.check]["status"] != kind.status:
        wrong.append(f"{kind.check} is {found[kind.check]}")
    reply = stage.call("doctor", "--fix", "--yes", *kind.flags, ok=(0, 3))
    outcomes = {one["kind"]: one["outcome"] for one in reply["repairs"]}
    if outcomes.get("database") == "repaired" and outcomes.get("vectors") == "repaired":
        del outcomes["vectors"]  # rows of vectors lost their passages, if these were on lost pages
    if outcomes != kind.outcomes:
        wrong.append(
            f"outcomes {[(o['kind'], o['outcome'], o['reason']) for o in reply['repairs']]}"
        )
    planned = {one["kind"] for one in plan["repairs"]}
    if not planned <= {one["kind"] for one in reply["repairs"]}:
        wrong.append(f"planned {planned}")
    if any(one["outcome"] != "repaired" and not one["reason"] for one in reply["repairs"]):
        wrong.append("refused or failed without a reason")
    if reply["ok"] is not kind.healthy:
        fails = [one for one in reply["health"]["checks"] if one["status"] == "fail"]
        wrong.append(f"healthy is {reply['ok']}: {fails}")
    return wrong or _compare(stage, kind)


def _compare(stage: Stage, kind: Kind) -> list[str]:
    """Return how searches differ from what the kind promises."""
    if kind.after == "none":
        return []
    after = stage.look()
    wrong: list[str] = []
    if kind.after == "same" and after != stage.before:
        wrong.append(_tell(stage, after))
    if kind.after == "rest" and not after["hybrid: dough oven"]:
        wrong.append("nothing is found any more")
    if (turns := stage.look_at_session()) != kind.turns:
        wrong.append(f"{turns} turns in the session")
    return wrong


def flip_bit(stage: Stage, seed: int) -> list[str]:
    """Flip a few bits of one file; return a fault unless the end is healthy and equal, or words."""
    dice = random.Random(seed)  # noqa: S311 - a repeatable choice, not a secret
    stage.restore()
    files = [stage.database] * 3 + [path for path in stage.lance.rglob("*") if path.is_file()]
    path = dice.choice(sorted(files))
    for _ in range(dice.choice((1, 1, 4, 64))):
        at = dice.randrange(path.stat().st_size)
        with path.open("r+b") as file:
            file.seek(at)
            byte = file.read(1)[0] ^ (1 << dice.randrange(8))
            file.seek(at)
            file.write(bytes([byte]))
    place = f"seed {seed}, {path.relative_to(stage.data)}"
    health = stage.try_call("doctor")
    if health.status not in (0, 3):
        return [f"{place}: doctor ends with {health.status}: {health.err[-500:]}"]
    if health.status == 0 and health.reply["ok"] and not _list_notes(health.reply):
        after = stage.look()
        return (
            []
            if after == stage.before
            else [f"{place}: healthy, but not equal: {_tell(stage, after)}"]
        )
    result = stage.try_call("doctor", "--fix", "--yes")
    if result.status not in (0, 3):
        return [f"{place}: --fix ends with {result.status}: {result.err[-500:]}"]
    reply = result.reply
    if not reply["ok"]:
        words = [one["reason"] for one in reply["repairs"] if one["outcome"] != "repaired"]
        fails = [one for one in reply["health"]["checks"] if one["status"] == "fail"]
        return [] if all(words) and words else [f"{place}: not healthy, and no reason: {fails}"]
    after = stage.look()
    same = after == stage.before or reply["lost"]
    return [] if same else [f"{place}: repaired, but not equal: {_tell(stage, after)}"]


def _list_notes(health: dict[str, Any]) -> list[str]:
    return [one["name"] for one in health["checks"] if one["status"] == "warn"]


def _tell(stage: Stage, after: dict[str, Any]) -> str:
    name = next(name for name, found in after.items() if found != stage.before[name])
    gone = [one for one in stage.before[name] if one not in after[name]]
    new = [one for one in after[name] if one not in stage.before[name]]
    return f"{name}: {gone[:1]} became {new[:1]}"


def choose_short(kinds: Sequence[Kind]) -> Iterator[Kind]:
    """Yield one kind of each code path of the repairs."""
    seen: set[str] = set()
    for kind in kinds:
        if kind.path not in seen:
            seen.add(kind.path)
            yield kind


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program, and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.damage", description=__doc__)
    parser.add_argument("--only", default="", help="only kinds whose name has this text")
    parser.add_argument("--flips", type=int, default=0, help="random bit flips instead of kinds")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    faults = 0
    say = sys.stdout.write
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(Path(folder))
        with stage.enter():
            stage.build()
            if chosen.flips:
                for seed in range(chosen.seed, chosen.seed + chosen.flips):
                    wrong = flip_bit(stage, seed)
                    faults += bool(wrong)
                    say("".join(f"{one}\n" for one in wrong))
                say(f"{chosen.flips} flips, {faults} faults\n")
                return bool(faults)
            for kind in (one for one in KINDS if chosen.only in one.name):
                try:
                    wrong = run_kind(stage, kind)
                except AssertionError as failure:
                    wrong = [str(failure)]
                faults += bool(wrong)
                say(f"{'FAULT' if wrong else 'ok':<6}{kind.name:<34}{kind.check or '-'}\n")
                say("".join(f"      {one}\n" for one in wrong))
                sys.stdout.flush()
            say(f"{len(KINDS)} kinds, {faults} faults\n")
    return bool(faults)
