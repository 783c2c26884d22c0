"""Abbreviations: full stops that belong to a word and end no sentence."""

import re


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NEVER_LAST = _set(
    "dr mr mrs ms prof st gen col lt sgt capt cmdr maj adm rev hon sen rep gov pres messrs mme"
    " mlle mt ft vs viz cf resp approx ca al e.g i.e eg ie z.b d.h bzw usw evtl ggf inkl sog"
    " bspw \u0433 \u0433\u0433 \u0443\u043b \u0434\u0440"
    " \u0442.\u0435 \u0442.\u0434 \u0441\u043c"
)
_BEFORE_NUMBERS = _set(
    "no nos nr fig figs eq eqs p pp vol vols ch sec sect art para ref refs ver v c s bd tab"
    " jan feb mar apr jun jul aug sep sept oct nov dec n\u00ba"
)
_SOMETIMES_LAST = _set("inc ltd co corp llc bros jr sr etc dept univ est assn ave blvd rd")
_STARTERS = _set(
    "the a an in on at it he she they we i you this that these those his her its their there"
    " however but and when while after before during since although as for from by with if not"
    " some many most other one two three both each all no also today later another what who"
    " how der die das ein eine er sie es im le la les il elle el los las"
)
_MONTHS = _set(
    "januar februar m\u00e4rz april mai juni juli august september oktober november dezember"
)
_REACH = 40
_word_before = re.compile(r"[\w.\u00b0\u00ba'-]{1,24}$").search
_word_after = re.compile(r"[\W_]*([^\W\d_]+)").match


def abbreviates(text: str, stop: int, after: int) -> bool:
    """Return whether the full stop at a place belongs to the word before it.

    Args:
        text: What both stand in.
        stop: Where the full stop is.
        after: Where the text goes on behind it and what closes with it.
    """
    found = _word_before(text[max(0, stop - _REACH) : stop])
    word = found[0].strip("'").lower() if found else ""
    following = text[after : after + _REACH].lstrip()
    named = _word_after(following)
    start = named[1].lower() if named else ""
    if word.isdigit():
        return start in _MONTHS
    if word in _BEFORE_NUMBERS and following[:1].isdigit():
        return True
    return word in _NEVER_LAST or (
        (word in _SOMETIMES_LAST or _initials(word)) and start not in _STARTERS
    )


def _initials(word: str) -> bool:
    """Return whether a lower-cased word is letters with full stops between: `j`, `u.s`, `p.m`."""
    return all(len(letter) == 1 and letter.islower() for letter in word.split("."))
