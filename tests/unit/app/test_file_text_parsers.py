from kebab.app.file_text import build_parsers
from kebab.config.settings import Ingest, Settings
from kebab.core.files import IMAGE
from kebab.core.media import PDF
from kebab.ingest.build import compute_recipes
from kebab.parse.registry import PARSERS


def get_recipe(settings, media):
    return compute_recipes(build_parsers(settings), "chunker")[media]


def test_without_the_setting_the_parsers_are_those_of_the_registry():
    assert build_parsers(Settings()) is PARSERS


def test_the_languages_of_pictures_are_part_of_what_decides_their_text():
    korean = Settings(ingest=Ingest(ocr=True, ocr_languages="kor"))

    assert get_recipe(korean, PDF) != get_recipe(Settings(), PDF)
    assert get_recipe(korean, IMAGE) != get_recipe(Settings(), IMAGE)
    assert get_recipe(korean, "text/markdown") == get_recipe(Settings(), "text/markdown")
