"""Runs commands in a knowledge base of their own, measures them in turns, and judges the figures.

The system counts the memory of the parent as part of the peak memory of a new process, so the
benchmark itself must not import anything large.

The notes are written from a seed: titles, sections, lists, code and some Korean. One section
becomes about one chunk, so the size of a corpus is given in chunks. Word frequencies follow Zipf's
law in the form of Mandelbrot: the word of rank r weighs 1 / (r + 2.7) ** 1.2.
Source: B. Mandelbrot, 1953, "An informational theory of the statistical structure of language".
"""

import json
import os
import random
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from statistics import median, quantiles
from typing import Any, TypeAlias

from msgspec import Struct, field

import kebab
from kebab.platform import ProcessEnd, wait_for_end
from kebab.wire.evals import BenchFigure, BenchGap, BenchGrowth, BenchImports


def _split_words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_COMMON = _split_words("""
the of and to a in is it that for on with as are be this by from or an at we not which can has
when if one all but will there their into more time other about some than only its then also how
first after new same so each what up out them no between use these two may over work such any
""")
_CONTENT = _split_words("""
backup restore server cluster network storage index search query note meeting project budget
garden recipe bread flour kitchen river mountain winter summer station train ticket hotel museum
paper author chapter theory result experiment model sample measure error signal memory process
thread kernel driver buffer packet socket router firewall token password account invoice contract
payment market price customer product design review release version branch commit test failure
monitor alert latency throughput schedule calendar deadline review reader writer table column row
key value record document passage sentence language grammar meaning translation history letter
culture music concert violin piano picture camera lens light shadow colour paint canvas studio
doctor patient treatment medicine symptom sleep exercise energy protein vitamin water temperature
pressure weather storm forecast climate forest plant seed flower harvest animal bird fish insect
island harbour ship sailor engine wheel bridge tunnel road map compass distance height weight
volume surface metal wood stone glass plastic cotton leather fabric pattern needle machine tool
hammer screw battery circuit voltage current sensor robot satellite planet orbit gravity particle
teacher student lecture exam question answer library subfolder catalogue archive museum government
election law court judge evidence witness report newspaper article interview opinion argument
strategy game player match score season team coach stadium ticket audience theatre actor stage
family neighbour friend child parent birthday holiday journey luggage passport border airport
build write read keep change move open close start stop find lose give take make send receive
explain compare check repair replace remove combine divide collect arrange prepare deliver improve
small large quick slow early late open quiet warm cold simple careful strong weak clear common
local remote public private stable broken useful modern ancient regular sudden gentle famous
""")
_KOREAN = _split_words("""
백업 복구 서버 설정 검색 문서 회의 기록 일정 예산 요리 밀가루 반죽 정원 여행 기차 호텔 박물관
논문 이론 결과 실험 오류 신호 메모리 네트워크 저장소 시장 가격 고객 제품 설계 검토 배포 번역
""")
_PARTICLES = ("은", "를", "에서", "의", "과", "에", "으로", "")
_PREFIXES = ("", "re", "un", "over", "pre", "sub", "inter", "non")
_SUFFIXES = ("s", "ing", "ed", "er", "less", "able", "ly", "ness", "ment", "ful", "ist", "ward")
_SHIFT, _EXPONENT = 2.7, 1.2


@cache
def build_vocabulary() -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the words by rank and their cumulative weights."""
    derived = [
        prefix + word + suffix for prefix in _PREFIXES for suffix in _SUFFIXES for word in _CONTENT
    ]
    words = tuple(dict.fromkeys([*_COMMON, *_CONTENT, *derived]))
    weights = (float((rank + _SHIFT) ** -_EXPONENT) for rank in range(1, len(words) + 1))
    return words, tuple(accumulate(weights))


class TextGenerator:
    """Generates text from a seed; the same seed gives the same text on every machine."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)  # noqa: S311 - the text of a benchmark is no secret

    def generate_words(self, count: int) -> list[str]:
        """Return words with the frequencies of real text."""
        ranked, weights = build_vocabulary()
        return self.random.choices(ranked, cum_weights=weights, k=count)

    def generate_topic(self, count: int) -> str:
        """Return content words for a title or a query."""
        return " ".join(self.random.sample(_CONTENT, count))

    def generate_sentence(self) -> str:
        """Return an English sentence."""
        body = " ".join(self.generate_words(self.random.randint(6, 18)))
        return f"{body[0].upper()}{body[1:]}."

    def generate_korean_sentence(self) -> str:
        """Return a short Korean sentence."""
        words = [
            self.random.choice(_KOREAN) + self.random.choice(_PARTICLES)
            for _ in range(self.random.randint(3, 6))
        ]
        return " ".join(words) + "."

    def generate_paragraph(self, words: int) -> str:
        """Return sentences of at least so many words together."""
        sentences: list[str] = []
        while sum(len(sentence.split()) for sentence in sentences) < words:
            sentences.append(self.generate_sentence())
        return " ".join(sentences)


_SECTIONS_PER_NOTE = (1, 7)
_WORDS_OF_LENGTH = ((20, 40), (45, 65), (70, 90))
_FILES_PER_FOLDER = 200
_CODE = """```python
def {name}({argument}):
    return {argument}.{method}("{text}")
```"""


class Corpus(Struct, frozen=True):
    """The files that were written."""

    folder: Path
    files: int
    size: int


def write_notes(folder: Path, sections: int, seed: int) -> Corpus:
    """Write notes with this number of sections in total."""
    return write_corpus(folder, _generate_notes(sections, seed))


def build_questions(count: int, seed: int) -> list[str]:
    """Return distinct questions that use the words of the corpus."""
    generator = TextGenerator(f"queries {seed}")
    questions: dict[str, None] = {}
    while len(questions) < count:
        questions[f"{generator.generate_topic(3)} {generator.generate_words(1)[0]}"] = None
    return list(questions)


def _generate_notes(sections: int, seed: int) -> Iterator[str]:
    generator = TextGenerator(f"notes {seed}")
    while sections > 0:
        count = min(sections, generator.random.randint(*_SECTIONS_PER_NOTE))
        sections -= count
        parts = "\n\n".join(generate_section(generator) for _ in range(count))
        yield f"# {generator.generate_topic(3).title()}\n\n{parts}\n"


def generate_section(generator: TextGenerator) -> str:
    """Return a heading and the text below it."""
    words = generator.random.randint(*generator.random.choice(_WORDS_OF_LENGTH))
    heading = f"## {generator.generate_topic(2).capitalize()}"
    parts = [heading, generator.generate_paragraph(words // 2)]
    kind = generator.random.random()
    if kind < 0.2:  # noqa: PLR2004 - a fifth have a list
        items = (generator.generate_topic(4) for _ in range(max(2, words // 10)))
        parts.append("\n".join(f"- {item}" for item in items))
    elif kind < 0.3:  # noqa: PLR2004 - a tenth have code
        first, second, third, fourth = generator.generate_topic(4).split()
        code = _CODE.format(name=f"{first}_{second}", argument=second, method=third, text=fourth)
        parts.append(code)
    elif kind < 0.4:  # noqa: PLR2004 - a tenth have a little Korean
        english = generator.generate_paragraph(words // 2)
        parts.append(f"{english} {generator.generate_korean_sentence()}")
    else:
        parts.append(generator.generate_paragraph(words // 2))
    return "\n\n".join(parts)


def write_corpus(folder: Path, texts: Iterator[str], suffix: str = ".md") -> Corpus:
    """Write each text to a file of its own, two hundred to a folder."""
    size = files = 0
    for number, text in enumerate(texts):
        subfolder = folder / f"{number // _FILES_PER_FOLDER:04}"
        subfolder.mkdir(parents=True, exist_ok=True)
        data = text.encode()
        (subfolder / f"note-{number:06}{suffix}").write_bytes(data)
        size, files = size + len(data), files + 1
    return Corpus(folder, files, size)


Command: TypeAlias = Sequence[str]

PROGRAM = "from kebab.cli.main import run; run()"
"""The program text of the console script."""

_SHOWN_ERROR = 300
_DROPPED = ("KEBAB_", "XDG_", "_KEBAB", "COV_", "COVERAGE_")


class Outcome(Struct, frozen=True, kw_only=True):
    """The result of one process. `peak_bytes` is the most memory that it held at once.

    `cpu_seconds` is the processor time of the process and of those that it has waited for.
    """

    status: int
    seconds: float
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    out: bytes = b""
    err: bytes = b""

    def describe_failure(self) -> str | None:
        """Return why the process failed, or None when it succeeded."""
        if self.status == 0:
            return None
        text = self.err.decode(errors="replace").strip()[-_SHOWN_ERROR:]
        return f"exit status {self.status}: {text}" if text else f"exit status {self.status}"

    def parse_reply(self) -> dict[str, Any]:
        """Return the JSON object on stdout, or an empty one when there is none."""
        try:
            reply = json.loads(self.out)
        except ValueError:
            return {}
        return reply if isinstance(reply, dict) else {}


Runner: TypeAlias = Callable[[Command, Mapping[str, str], Path], Outcome]
"""Runs a command in a folder with exactly this environment."""


def run_process(command: Command, environment: Mapping[str, str], folder: Path) -> Outcome:
    """Run a command to its end; its output goes into files, so the process never blocks."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, or `cp`
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd=folder
        )
        with ExitStack() as undo:
            undo.callback(process.wait)
            undo.callback(process.kill)
            end = wait_for_end(process) or ProcessEnd(0)
            undo.pop_all()
        seconds = time.perf_counter() - started
        out.seek(0)
        err.seek(0)
        return Outcome(
            status=end.status,
            seconds=seconds,
            cpu_seconds=end.cpu_seconds,
            peak_bytes=end.peak_bytes,
            out=out.read(),
            err=err.read(),
        )


def build_python_command(program: str, *arguments: str) -> Command:
    """Return the command that runs a program text in this interpreter."""
    return (sys.executable, "-c", program, *arguments)


def build_kebab_command(*arguments: str) -> Command:
    """Return the command that runs kebab as its console script does."""
    return build_python_command(PROGRAM, *arguments)


class Sandbox:
    """A knowledge base in a folder of its own; its processes ignore the settings of the user."""

    def __init__(self, folder: Path, models: Path, runner: Runner = run_process) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._runner = runner
        self.environment: Mapping[str, str] = _build_environment(os.environ, folder, models)
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, command: Command) -> Outcome:
        """Run a command to its end."""
        return self._runner(command, self.environment, self.folder)

    def count_disk_bytes(self) -> int:
        """Return the disk space of the knowledge base."""
        files = (path for path in self.data.rglob("*") if path.is_file())
        return sum(path.stat().st_blocks * 512 for path in files)


def _build_environment(outer: Mapping[str, str], folder: Path, models: Path) -> dict[str, str]:
    """Return the environment without settings and with a home inside the folder."""
    environment = {name: value for name, value in outer.items() if not name.startswith(_DROPPED)}
    environment |= {
        "HOME": str(folder / "home"),
        "KEBAB_DATA_DIR": str(folder / "data"),
        "KEBAB_MODELS_DIR": str(models),
        "KEBAB_DAEMON_AUTO": "false",  # a measured process does its own work
        "KEBAB_OFFLINE": "true",  # the time to download a model is not measured
        "ORT_DISABLE_TELEMETRY": "1",  # also where onnxruntime runs without kebab
    }
    root = str(Path(kebab.__file__).parents[1])
    if root not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        # A process in another folder has to import this copy of kebab.
        path = filter(None, (root, outer.get("PYTHONPATH", "")))
        environment["PYTHONPATH"] = os.pathsep.join(path)
    if sys.dont_write_bytecode:
        # Bytecode is cached as by an installed program; all sandboxes of a run share one cache.
        environment["PYTHONDONTWRITEBYTECODE"] = ""
        environment["PYTHONPYCACHEPREFIX"] = str(folder.parent / "bytecode")
    return environment


class Sample(Struct):
    """The measured values of one candidate, or the reason why there are none."""

    values: list[float] = field(default_factory=list)
    fault: str | None = None


class Candidate(Struct, frozen=True, kw_only=True):
    """A command to measure. `build_command` takes the number of the turn; turn 0 is a warm-up.

    `find_fault` returns why a run does not count: a command that fails fast is not a fast command.
    """

    name: str
    build_command: Callable[[int], Command]
    find_fault: Callable[[Outcome], str | None] = Outcome.describe_failure
    read_value: Callable[[Outcome], float] = attrgetter("seconds")


def build_repeated_candidate(name: str, command: Command) -> Candidate:
    """Return a candidate that runs the same command in every turn."""
    return Candidate(name=name, build_command=lambda _: command)


def run_interleaved(
    candidates: Sequence[Candidate],
    turns: int,
    run: Callable[[Command], Outcome],
    report_turn: Callable[[int, int], None],
) -> dict[str, Sample]:
    """Return the values of each candidate by name; a candidate that fails does not run again.

    Every other turn runs in reverse order. A process can slow down or speed up the next one, for
    example by warming the processor, and this must not always affect the same candidate.
    """
    samples = {candidate.name: Sample() for candidate in candidates}
    for turn in range(turns + 1):
        report_turn(turn, turns)
        for one in candidates if turn % 2 else reversed(candidates):
            sample = samples[one.name]
            if sample.fault is not None:
                continue
            outcome = run(one.build_command(turn))
            sample.fault = one.find_fault(outcome)
            if sample.fault is not None:
                sample.values.clear()
            elif turn > 0:
                sample.values.append(one.read_value(outcome))
    return samples


TIMES = "\N{MULTIPLICATION SIGN}"


class Budget(Struct, frozen=True):
    """A bound on a median, or on a ratio: `unit` is the unit of the figure, or `TIMES`."""

    limit: float
    unit: str
    at_least: bool = False

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g} {self.unit}"

    def compute_share(self, value: float) -> float:
        """Return how much of the budget a value uses; more than 1 exceeds it."""
        if self.at_least:
            return self.limit / value if value > 0 else float("inf")
        return value / self.limit


def limit_ratio(limit: float) -> Budget:
    """Return a budget for a ratio that must not be higher."""
    return Budget(limit, TIMES)


class Yardstick(Struct, frozen=True):
    """The measured values that a figure is compared with."""

    name: str
    sample: Sample


class Results(Struct):
    """The figures of a run in the order in which they were measured."""

    figures: list[BenchFigure] = field(default_factory=list)
    gaps: list[BenchGap] = field(default_factory=list)
    growth: list[BenchGrowth] = field(default_factory=list)
    imports: list[BenchImports] = field(default_factory=list)

    def add_figure(
        self,
        name: str,
        unit: str,
        sample: Sample,
        *,
        against: Yardstick | None = None,
        budget: Budget | None = None,
        chunks: int | None = None,
    ) -> None:
        """Add a figure, or a failure when the sample has no values."""
        if sample.fault is not None or not sample.values:
            self.add_failure(name, sample.fault or "no reading")
            return
        center = median(sample.values)
        divisor = median(against.sample.values) if against and against.sample.values else 0.0
        ratio = center / divisor if divisor > 0 else None
        measured = ratio if budget and budget.unit == TIMES else center
        share = budget.compute_share(measured) if budget and measured is not None else None
        spread = 0.0
        if len(sample.values) > 1:
            lower, _, upper = quantiles(sample.values, n=4, method="inclusive")
            spread = upper - lower
        self.figures.append(
            BenchFigure(
                name=name,
                unit=unit,
                minimum=min(sample.values),
                median=center,
                maximum=max(sample.values),
                runs=len(sample.values),
                yardstick=against.name if against else None,
                ratio=ratio,
                budget=str(budget) if budget else None,
                within=None if share is None else share <= 1,
                share=share,
                spread=spread,
                chunks=chunks,
            )
        )

    def add_skipped(self, name: str, reason: str) -> None:
        """Record what was left out on purpose."""
        self.gaps.append(BenchGap(name=name, reason=reason, failed=False))

    def add_failure(self, name: str, reason: str) -> None:
        """Record what should have run and did not."""
        self.gaps.append(BenchGap(name=name, reason=reason, failed=True))
