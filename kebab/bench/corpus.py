"""Writes Markdown notes from a seed: titles, sections, lists, code and some Korean.

One section becomes about one chunk, so the size of a corpus is given in chunks. Word frequencies
follow Zipf's law in the form of Mandelbrot: the word of rank r weighs 1 / (r + 2.7) ** 1.2.
Source: B. Mandelbrot, 1953, "An informational theory of the statistical structure of language".
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path


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


@dataclass(frozen=True, slots=True)
class Corpus:
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
