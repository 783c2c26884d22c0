"""Text of Latin script is read in its encoding, or the doubt is named."""

import pytest

from kebab.parse.encoding import decode

TEXTS = {
    "pl": "Wczoraj byliśmy w lesie i zbieraliśmy grzyby. Dzieci znalazły dużego borowika za łąką.",
    "cs": "Včera jsme byli v lese a sbírali houby. Počasí bylo krásné, i když trochu větrné.",
    "hu": "Tegnap az erdőben voltunk és gombát szedtünk. Az idő gyönyörű volt, bár kicsit szeles.",
    "ro": "Ieri am fost în pădure şi am cules ciuperci. Vremea a fost frumoasă, deşi puţin vânt.",
    "hr": "Jučer smo bili u šumi i brali gljive. Sutra ćemo ići opet ako ne bude kiše.",
    "tr": "Dün ormana gittik ve mantar topladık. Hava çok güzeldi ama biraz rüzgârlıydı.",
    "lt": "Vakar buvome miške ir rinkome grybus. Oras buvo gražus, nors šiek tiek vėjuotas.",
    "lv": "Vakar mēs bijām mežā un lasījām sēnes. Laiks bija skaists, lai gan nedaudz vējains.",
    "de": "Gestern waren wir im Wald über der Brücke. Das Wetter war schön, aber etwas stürmisch.",
    "fr": "Hier nous étions dans la forêt. Il faisait beau, même s'il y avait du vent là-bas.",
    "da": "I går var vi i skoven og plukkede svampe. Vejret var smukt, selv om det blæste på øen.",
    "en": "The café was closed, so we read Zoë’s résumé and the naïve paper by Müller.",
}


@pytest.mark.parametrize(
    ("language", "codec"),
    [
        *((one, two) for one in ("pl", "cs", "hu", "ro", "hr") for two in ("cp1250", "iso8859_2")),
        *((language, codec) for language in ("lt", "lv") for codec in ("cp1257", "iso8859_13")),
        *(("tr", codec) for codec in ("cp1254", "iso8859_9")),
        *((language, "cp1252") for language in ("de", "fr", "da", "en")),
    ],
)  # fmt: skip
def test_natural_text_is_read_in_its_encoding(language, codec):
    found = decode(TEXTS[language].encode(codec))
    assert (found.text, found.warnings) == (TEXTS[language], ())


def test_the_encoding_of_a_text_that_fits_two_is_named_as_uncertain():
    found = decode("Săptămâna viitoare vine bunica.".encode("cp1250"))
    assert found.warnings == ("the encoding is uncertain: read as cp1252, cp1250 is as likely",)
