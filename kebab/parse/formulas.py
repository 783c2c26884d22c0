"""Writes superscripts, subscripts and equations as text.

Readers put marks around raised and lowered text, and `write_scripts` replaces the marks of a
complete paragraph. `read_equation` turns OMML (Word, PowerPoint) and MathML (OpenDocument, HTML)
into TeX with the letters and signs of the source.
"""

import re
import unicodedata
from xml.etree.ElementTree import Element

from kebab.parse.archive import find_child, get_attribute, get_local_tag

SUPERSCRIPT, SUBSCRIPT, NOTE, END = "\x02", "\x04", "\x05", "\x06"
"""The begin of a superscript, of a subscript, what tells the mark of a note, and the end."""

_MARKS = "\x02\x04-\x06"
_find_mark = re.compile(f"[{_MARKS}]").search
_SCRIPT = re.compile(f"([\x02\x04])[^{_MARKS}]*\x06(?:\\1[^{_MARKS}]*\x06)*")
"""A superscript or subscript; programs cut it into several runs."""

_NOTE_MARK = re.compile(r"(\d?)(?:\x05\x02|\x02\x05)\s{0,9}\[?(\w{1,9})\]?\s{0,9}\x06")

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
    for _ in range(4):
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
_LEFT_OUT = frozenset({"annotation", "annotation-xml", "mphantom", "none", "del", "moveFrom"})
_SIGNS = dict(
    zip("∑∏∫∮{}$", (r"\sum", r"\prod", r"\int", r"\oint", r"\{", r"\}", r"\$"), strict=True)
)
_FORMS = {
    **dict.fromkeys(("f", "mfrac"), "\\frac{{{0}}}{{{1}}}"),
    **dict.fromkeys(("sSub", "msub", "limLow", "munder"), "{0}_{{{1}}}"),
    **dict.fromkeys(("sSup", "msup", "limUpp", "mover"), "{0}^{{{1}}}"),
    **dict.fromkeys(("sSubSup", "msubsup", "munderover"), "{0}_{{{1}}}^{{{2}}}"),
    "sPre": "{{}}_{{{0}}}^{{{1}}}{2}",
    "nary": "_{{{0}}}^{{{1}}} {2}",
    "mroot": "\\sqrt[{1}]{{{0}}}",
}
"""How an element of OMML or MathML is written, by the numbers of its operands."""

_SEPARATORS = {
    **dict.fromkeys(("mr", "mtr", "mlabeledtr"), " & "),
    **dict.fromkeys(("m", "mtable", "eqArr"), r" \\ "),
    "func": " ",
}
_WORDS = re.compile(r"[^\W\d_]{2}")
_ATOM = re.compile(r"\\?[\w.,]+|.|\([^()]*\)|", re.DOTALL)
"""What a script behind it certainly belongs to as a whole."""


def read_equation(root: Element) -> str:
    """Return an equation of OMML or MathML as TeX between dollar signs; empty without content.

    TeX that comes with MathML is returned as it is. Accents, brackets of matrices and the like are
    left out; what is written above a base is its superscript.
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
    if tag in _LEFT_OUT or depth > _MAX_DEPTH:
        return "" if tag in _LEFT_OUT else "".join(element.itertext())
    if tag in {"t", "mi", "mn", "mo", "ms", "mtext"}:
        text = _INVISIBLE.sub("", "".join(element.itertext()))
        text = _STYLED.sub(lambda one: unicodedata.normalize("NFKC", one[0]), text)
        text = text if tag == "t" else " ".join(text.split())
        text = f" {text} " if tag != "t" and _WORDS.search(text) else text
        return "".join(_SIGNS.get(char, char) for char in text)
    operands = [_convert(one, depth + 1) for one in element if not one.tag.endswith("Pr")]
    if tag in {"d", "mfenced"}:
        begin = element.get("open", _get_property(element, "begChr", "("))
        end = element.get("close", _get_property(element, "endChr", ")"))
        return f"{begin}{', '.join(operands)}{end}"
    if tag in {"rad", "msqrt"}:
        degree = operands.pop(0) if tag == "rad" and len(operands) > 1 else ""
        return f"\\sqrt{f'[{degree}]' if degree else ''}{{{''.join(operands)}}}"
    form = _FORMS.get(tag)
    if form is None:
        return _SEPARATORS.get(tag, "").join(filter(None, operands))
    if form.startswith("{0}"):
        base = operands[0] if operands else ""
        operands[:1] = [base if _ATOM.fullmatch(base) else f"{{{base}}}"]
    sign = _get_property(element, "chr", "∫") if tag == "nary" else ""
    text = form.format(*operands, "", "", "").replace("_{}", "").replace("^{}", "")
    return _SIGNS.get(sign, sign) + text


def _get_property(element: Element, name: str, default: str) -> str:
    """Return a property of an element of OMML, which stands in its first child."""
    first = next(iter(element), None)
    found = find_child(first, name) if first is not None and first.tag.endswith("Pr") else None
    return default if found is None else get_attribute(found, "val")
