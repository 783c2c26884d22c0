"""Writes superscripts, subscripts and equations as text.

Readers put marks around raised and lowered text, and `write_scripts` replaces the marks of a
complete paragraph. `read_equation` turns OMML (Word, PowerPoint) and MathML (OpenDocument, HTML)
into TeX with the letters and signs of the source.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import TypeAlias
from xml.etree.ElementTree import Element

from kebab.parse.archive import find_child, get_attribute, get_local_tag
from kebab.text.normalize import split_names

SUPERSCRIPT, SUBSCRIPT, NOTE, END = "\x02", "\x04", "\x05", "\x06"
"""The begin of a superscript, of a subscript, what tells the mark of a note, and the end."""

_MARKS = "\x02\x04-\x06"
_find_mark = re.compile(f"[{_MARKS}]").search
_SCRIPT = re.compile(f"([\x02\x04])[^{_MARKS}]*\x06(?:\\1[^{_MARKS}]*\x06)*")
"""A superscript or subscript; programs cut it into several runs."""

_NOTE_MARK = re.compile(r"(\d?)(?:\x05\x02|\x02\x05)\s{0,9}\[?(\w{1,9})\]?\s{0,9}\x06")
_MAX_NESTED = 4

_RAISED = dict(
    zip(
        "0123456789+-\u2212\u2013=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWβγδφχ",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵝᵞᵟᵠᵡ",
        strict=True,
    )
)
_LOWERED = dict(
    zip(
        "0123456789+-\u2212\u2013=()aehijklmnoprstuvxβγρφχ",
        "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ",
        strict=True,
    )
)
_SCRIPTS = {
    SUPERSCRIPT: ("^", _RAISED | {one: one for one in _RAISED.values()}),
    SUBSCRIPT: ("_", _LOWERED | {one: one for one in _LOWERED.values()}),
}
_RAISED_BY_HABIT = frozenset({"st", "nd", "rd", "th", *"*†‡§¶′″'\"°º®™©"})
"""The ends of ordinals and signs that are raised by themselves: no exponents."""


_WORD = re.compile("[A-Za-z]{4}")
"""Words stay words: few readers and no embedding model know them in raised letters."""

_LONGEST_SCRIPT = 30
"""A longer text is small print, which pages write as subscripts."""


def write_scripts(text: str) -> str:
    """Return marked text with its superscripts and subscripts.

    They are characters of Unicode where it has every one of them, `^(…)` and `_(…)` for words and
    all others; small print stays as it is. The mark of a note is `^1`, behind a digit `^[1]`.
    """
    if _find_mark(text) is None:
        return text
    text = _NOTE_MARK.sub(lambda one: f"{one[1]}^[{one[2]}]" if one[1] else f"^{one[2]}", text)
    for _ in range(_MAX_NESTED):
        text, count = _SCRIPT.subn(_write_script, text)
        if not count:
            break
    return re.sub(f"[{_MARKS}]", "", text)


def _write_script(found: re.Match[str]) -> str:
    text = re.sub(f"[{_MARKS}]", "", found[0])
    body = text.strip()
    sign, characters = _SCRIPTS[found[1]]
    if not body or body in _RAISED_BY_HABIT or len(body) > _LONGEST_SCRIPT:
        return text
    if set(body) <= characters.keys() and not _WORD.search(body):
        script = "".join(characters[one] for one in body)
    elif body[0] + body[-1] in {"[]", "()"}:
        script = sign + body
    else:
        script = f"{sign}({body})"
    return text.replace(body, script)


_MAX_DEPTH = 50
"""The deepest nesting of an equation that is written; below it only the letters are."""

_INVISIBLE = re.compile("[\u200b\u2061-\u2064\ufeff]")
_STYLED = re.compile("[\U0001d400-\U0001d7ff]")
_LEAVES = frozenset({"t", "mi", "mn", "mo", "ms", "mtext"})
_LEFT_OUT = frozenset({"annotation", "annotation-xml", "mphantom", "none", "del", "moveFrom"})
_FUNCTIONS = split_names(
    "sin cos tan cot sec csc sinh cosh tanh arcsin arccos arctan log ln lg exp lim limsup liminf"
    " max min sup inf det dim ker gcd deg arg hom Pr"
)
_OPERATORS = {
    sign: f"\\{name}"
    for sign, name in zip(
        "∑∏∐∫∬∭∮∯∰⋃⋂⋁⋀",
        (
            *("sum", "prod", "coprod", "int", "iint", "iiint", "oint", "oiint", "oiiint"),
            *("bigcup", "bigcap", "bigvee", "bigwedge"),
        ),
        strict=True,
    )
}
_ABOVE = {
    sign: f"\\{name}"
    for name, signs in (
        *(("hat", "^\u0302ˆ"), ("tilde", "~\u0303˜"), ("bar", "\u0304¯"), ("dot", "\u0307˙")),
        *(("vec", "\u20d7→"), ("ddot", "\u0308¨"), ("check", "\u030cˇ"), ("breve", "\u0306˘")),
        *(("overline", "\u0305‾"), ("acute", "\u0301´"), ("grave", "\u0300`")),
        ("overbrace", "⏞"),
    )
    for sign in signs
}
_BELOW = {**dict.fromkeys("_\u0332\u0305‾¯", r"\underline"), "⏟": r"\underbrace"}
_UNDER, _OVER = r"\underset{{{}}}", r"\overset{{{}}}"
_TAKES_LIMITS = re.compile(
    rf"\\(?:{'|'.join(_FUNCTIONS)}|{'|'.join(one[1:] for one in _OPERATORS.values())})"
    r"|\\(?:over|under)brace\{.*\}"
)
_ATOM = re.compile(r"\\?[\w.,]+|.|\([^()]*\)|\\[a-z]+\{[^{}]*\}|", re.DOTALL)
"""What a script or a slash behind it certainly belongs to as a whole."""


def read_equation(root: Element) -> str:
    """Return an equation of OMML or MathML as TeX between dollar signs; empty without content.

    TeX that comes with MathML is returned as it is.
    """
    tex = next(
        (
            one.text or ""
            for one in root.iter()
            if get_local_tag(one.tag) == "annotation" and "tex" in one.get("encoding", "").lower()
        ),
        "",
    )
    body = " ".join((tex or _convert(root, 0)).split())
    return f"${body}$" if body else ""


def _convert(element: Element, depth: int) -> str:
    """Return an element as TeX. Elements of both formats have their operands in a fixed order."""
    tag = get_local_tag(element.tag)
    if tag in _LEFT_OUT:
        return ""
    if depth > _MAX_DEPTH:
        return "".join(element.itertext())
    if tag in _LEAVES:
        return _write_leaf(element, tag)
    children = [one for one in element if not one.tag.endswith("Pr")]
    operands = [_convert(one, depth + 1) for one in children]
    if tag == "mmultiscripts":
        tags = [get_local_tag(one.tag) for one in children]
        return _write_multiscripts(operands, tags)
    if tag == "r" and _find_property(element, "nor") is not None:
        return _write_text(_join(operands))
    writer = _WRITERS.get(tag)
    return _join(operands) if writer is None else writer(element, [*operands, "", "", ""])


def _write_leaf(element: Element, tag: str) -> str:
    text = _INVISIBLE.sub("", "".join(element.itertext()) if tag != "t" else element.text or "")
    text = _STYLED.sub(lambda one: unicodedata.normalize("NFKC", one[0]), text)
    text = text.replace("$", r"\$")
    if tag == "t":
        return text
    text = " ".join(text.split())
    if tag == "mtext":
        return _write_text(text)
    if tag == "mo" and text in {"{", "}"}:
        return f"\\{text}"
    return f"\\{text}" if text in _FUNCTIONS else _OPERATORS.get(text, text)


def _write_text(text: str) -> str:
    return f"\\text{{{text}}}" if len(text) > 1 and re.search(r"[^\W\d_]", text) else text


def _join(parts: Iterable[str]) -> str:
    """Return parts side by side, with a blank behind a command before a letter."""
    joined = ""
    for part in parts:
        is_command = part[:1].isalpha() and re.search(r"\\[a-zA-Z]{1,20}$", joined[-21:])
        joined += f" {part}" if is_command else part
    return joined


def _group(text: str) -> str:
    return text if _ATOM.fullmatch(text) else f"{{{text}}}"


def _write_script_of(base: str, sub: str, sup: str) -> str:
    takes_limits = _TAKES_LIMITS.fullmatch(base)
    below, above = f"_{{{sub}}}" if sub else "", f"^{{{sup}}}" if sup else ""
    return f"{base if takes_limits else _group(base)}{below}{above}"


def _write_multiscripts(operands: list[str], tags: list[str]) -> str:
    """Return a base with scripts on both sides, which come in pairs of a lower and an upper one."""
    middle = tags.index("mprescripts") if "mprescripts" in tags else len(tags)
    before, behind = operands[middle + 1 :], operands[1:middle]
    left = _write_script_of("", "".join(before[::2]), "".join(before[1::2]))
    right = _write_script_of("".join(operands[:1]), "".join(behind[::2]), "".join(behind[1::2]))
    return f"{{}}{left}{right}" if left else right


def _write_fraction(element: Element, operands: list[str]) -> str:
    above, below = operands[:2]
    kind = _get_property(element, "type", "bar")
    if kind in {"lin", "skw"} or element.get("bevelled") == "true":
        return f"{_group(above)}/{_group(below)}"
    if kind == "noBar" or re.match(r"0(?!\.)", element.get("linethickness", "")):
        return f"{{{above} \\atop {below}}}"
    return f"\\frac{{{above}}}{{{below}}}"


def _write_root(radicand: str, degree: str) -> str:
    return f"\\sqrt[{degree}]{{{radicand}}}" if degree else f"\\sqrt{{{radicand}}}"


def _write_nary(element: Element, operands: list[str]) -> str:
    sign = _get_property(element, "chr", "∫")
    return _join([_write_script_of(_OPERATORS.get(sign, sign), *operands[:2]), " ", operands[2]])


def _write_function(_element: Element, operands: list[str]) -> str:
    word = re.match(r"[a-zA-Z]+", operands[0])
    sign = "\\" if word and word[0] in _FUNCTIONS else ""
    return _join([sign + operands[0], operands[1]])


def _write_limits(base: str, below: str, above: str) -> str:
    """Return a base with what stands below and above it: limits, an accent, or a label."""
    if base in _FUNCTIONS:
        base = f"\\{base}"
    if _TAKES_LIMITS.fullmatch(base):
        return _write_script_of(base, below, above)
    if below:
        base = f"{_BELOW.get(below, _UNDER.format(below))}{{{base}}}"
    return f"{_ABOVE.get(above, _OVER.format(above))}{{{base}}}" if above else base


def _write_bracket_sign(element: Element, operands: list[str]) -> str:
    """Return a base with a sign above or below it, such as a brace."""
    sign = _get_property(element, "chr", "⏟")
    is_above = _get_property(element, "pos", "bot") == "top"
    return _write_limits(operands[0], *(("", sign) if is_above else (sign, "")))


def _write_bar(element: Element, operands: list[str]) -> str:
    command = "over" if _get_property(element, "pos", "bot") == "top" else "under"
    return f"\\{command}line{{{operands[0]}}}"


def _write_delimiters(element: Element, operands: list[str]) -> str:
    """Return what stands in brackets; one that stands alone needs an invisible partner."""
    if get_local_tag(element.tag) == "d":
        begin, end = (
            _get_property(element, name, sign) for name, sign in (("begChr", "("), ("endChr", ")"))
        )
        separator = _get_property(element, "sepChr", "|")
    else:
        begin, end = element.get("open", "("), element.get("close", ")")
        separator = element.get("separators", ",")[:1]
    body = separator.join(operands[:-3])
    begin, end = (f"\\{one}" if one in {"{", "}"} else one for one in (begin, end))
    if begin and end:
        return f"{begin}{body}{end}"
    return f"\\left{begin or '.'}{body}\\right{end or '.'}" if begin or end else body


def _write_rows(name: str, operands: list[str]) -> str:
    rows = r" \\ ".join(operands[:-3])
    return rf"\begin{{{name}}}{rows}\end{{{name}}}"


def _find_property(element: Element, name: str) -> Element | None:
    """Return a property of an element of OMML, which stands in its first child."""
    first = next(iter(element), None)
    is_properties = first is not None and first.tag.endswith("Pr")
    return find_child(first, name) if is_properties else None


def _get_property(element: Element, name: str, default: str) -> str:
    found = _find_property(element, name)
    return default if found is None else get_attribute(found, "val")


_Writer: TypeAlias = Callable[[Element, list[str]], str]

_WRITERS: dict[str, _Writer] = {
    **dict.fromkeys(("f", "mfrac"), _write_fraction),
    **dict.fromkeys(("sSub", "msub"), lambda _, one: _write_script_of(one[0], one[1], "")),
    **dict.fromkeys(("sSup", "msup"), lambda _, one: _write_script_of(one[0], "", one[1])),
    **dict.fromkeys(("sSubSup", "msubsup"), lambda _, one: _write_script_of(*one[:3])),
    "sPre": lambda _, one: f"{{}}{_write_script_of('', *one[:2])}{one[2]}",
    "rad": lambda _, one: _write_root(one[1], one[0]),
    "mroot": lambda _, one: _write_root(one[0], one[1]),
    "msqrt": lambda _, one: _write_root(_join(one), ""),
    "nary": _write_nary,
    "func": _write_function,
    **dict.fromkeys(("limLow", "munder"), lambda _, one: _write_limits(one[0], one[1], "")),
    **dict.fromkeys(("limUpp", "mover"), lambda _, one: _write_limits(one[0], "", one[1])),
    "munderover": lambda _, one: _write_limits(*one[:3]),
    "acc": lambda element, one: _write_limits(one[0], "", _get_property(element, "chr", "\u0302")),
    "bar": _write_bar,
    "groupChr": _write_bracket_sign,
    **dict.fromkeys(("d", "mfenced"), _write_delimiters),
    **dict.fromkeys(("m", "mtable"), lambda _, one: _write_rows("matrix", one)),
    "eqArr": lambda _, one: _write_rows("aligned", one),
    **dict.fromkeys(("mr", "mtr", "mlabeledtr"), lambda _, one: " & ".join(one[:-3])),
}
"""By the local tags of OMML and MathML, what writes an element of its operands."""
