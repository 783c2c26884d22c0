import pytest

from kebab.core.review import Markup
from kebab.review.document import Fix, plan_units, show_sentences
from kebab.review.model_worker import LightItem, Normalizer, choose_severity
from tests.fakes.review import make_document

TEXT = "Teh bread is baked. It is “good” and it is cheap. 빵이 조타 🍞 and teh end."


def start(text=TEXT, markup=None):
    document = make_document(text, markup or Markup())
    [unit] = plan_units(document, "proofread")
    return document, Normalizer(document, show_sentences(document, unit))


def item(words, sentence=1, fix="x", kind="grammar", **fields):
    return LightItem(
        sentence=sentence, words=words, kind=kind, severity=None, reason="wrong", fix=fix, **fields
    )


def quote(document, finding):
    return document.text[finding.start : finding.end]


@pytest.mark.parametrize(
    ("words", "fix", "edit"),
    [("teh", "the", "replace"), ("teh", "kettle", "note"), ("teh", "", "note")],
)
def test_a_spelling_fix_that_is_another_word_is_refused(words, fix, edit):
    found = start("Put teh kettle on.")[1].normalize(item(words, fix=fix, kind="spelling"))
    assert found.edit == edit
    assert (found.fix is None) == (edit == "note")


def test_a_finding_that_repeats_the_example_of_the_prompt_is_dropped():
    normalizer = start("We recieve a kettle.")[1]
    assert normalizer.normalize(item("kettle", fix="receive", kind="spelling")) is None
    assert normalizer.normalize(item("recieve", fix="receive", kind="spelling")).fix.text


@pytest.mark.parametrize(
    ("words", "sentence", "found", "position"),
    [
        ("Teh", 1, "Teh", 0),
        ("teh", 3, "teh", TEXT.rindex("teh")),
        ("조타", 3, "조타", TEXT.index("조타")),
        ('"good"', 2, "“good”", TEXT.index("“")),
        ("It  IS", 2, "It is", TEXT.index("It is")),
        ("baked", 3, "baked", TEXT.index("baked")),
        ("cheap", 99, "cheap", TEXT.index("cheap")),
        ("cheap", 0, "cheap", TEXT.index("cheap")),
    ],
)
def test_the_words_are_located(words, sentence, found, position):
    document, normalizer = start()

    finding = normalizer.normalize(item(words, sentence))

    assert quote(document, finding) == found
    assert finding.start == position
    assert (finding.edit, finding.fix) == ("replace", Fix("x"))


def test_words_that_occur_twice_in_a_sentence_mean_one_place_after_the_other():
    document, normalizer = start("It is it, and it is.")

    places = [normalizer.normalize(item("it", 1)).start for _ in range(3)]

    assert places == [6, 14, 6]
    assert quote(document, normalizer.normalize(item("is", 1))) == "is"


@pytest.mark.parametrize("words", ["tehh", "invented", "...", "baked. It"])
def test_words_without_a_place_are_dropped(words):
    assert start()[1].normalize(item(words)) is None


def test_an_empty_fix_deletes_and_a_missing_or_endless_one_is_a_note():
    assert start()[1].normalize(item("Teh", fix="")).edit == "delete"
    assert start()[1].normalize(item("Teh", fix=None)).edit == "note"
    assert start()[1].normalize(item("Teh", fix="x" * 1001)).edit == "note"


CODE = "Use `teh cmd` in bread, see [docs](https://e.org/teh) for more."
SPANS = (CODE.index("`"), CODE.index("` ") + 1), (CODE.index("https"), CODE.index(")"))


@pytest.mark.parametrize(
    ("words", "fix"),
    [("Use `teh cmd` in", "Use `teh cmd` with"), ("see [docs]() for", "see the docs for")],
)
def test_an_edit_around_code_or_an_address_is_a_note(words, fix):
    finding = start(CODE, Markup(code=SPANS))[1].normalize(item(words, fix=fix))

    assert (finding.edit, finding.fix) == ("note", None)


def test_an_edit_of_code_is_dropped():
    assert start(CODE, Markup(code=SPANS))[1].normalize(item("teh", fix="the")) is None


def test_an_edit_over_the_sign_of_a_quotation_is_a_note():
    _, normalizer = start("> It are\n> good bread.")

    assert normalizer.normalize(item("are good", fix="is good")).edit == "note"
    assert normalizer.normalize(item("are", fix="is")).edit == "replace"


@pytest.mark.parametrize(
    ("kind", "wanted", "chosen"),
    [
        ("spelling", None, "warning"),
        ("spelling", "error", "error"),
        ("punctuation", None, "suggestion"),
        ("punctuation", "error", "warning"),
        ("style", "error", "suggestion"),
        ("terminology", "error", "warning"),
        ("grammar", "suggestion", "suggestion"),
    ],
)
def test_a_severity_stays_within_the_bounds_of_its_kind(kind, wanted, chosen):
    assert choose_severity(kind, wanted) == chosen


def test_words_of_an_unknown_sentence_mean_one_place_after_the_other():
    document, normalizer = start("Put teh dough in. Put teh oven on.")

    places = [normalizer.normalize(item("teh", number)).start for number in (99, 0, 99)]

    assert places == [document.text.rindex("teh"), document.text.index("teh"), places[0]]
