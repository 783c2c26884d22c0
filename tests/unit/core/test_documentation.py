"""Tests which files of a folder are documents."""

import pytest

from kebab.core.documentation import choose_documents
from kebab.core.media import MARKDOWN, PLAIN

CODE = ("main.py", "text/x-python")


def choose(path, media=MARKDOWN, *others):
    return path in choose_documents([(path, media), *others])


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "tests/README.md",
        "demos/README.txt",
        "examples/a/README.md",
    ],
)
def test_documents_of_a_program_are_chosen(path):
    assert choose(path, MARKDOWN, CODE)


@pytest.mark.parametrize(
    "path",
    [
        "tests/case.md",
        "pkg/testdata/README.md",
        "tests/fixtures/README.md",
        "vendor/example.org/x/README.md",
        "COPYING.txt",
        "src/lang/frisian.txt",
        "demos/moby-dick.txt",
    ],
)
def test_test_data_licences_and_files_of_others_are_not(path):
    assert not choose(path, MARKDOWN, CODE)


@pytest.mark.parametrize("path", ["README", "INSTALL.unix", "CHANGES"])
def test_texts_without_a_known_suffix_need_a_name_in_capitals(path):
    assert choose(path, PLAIN, CODE)


@pytest.mark.parametrize("path", ["go.mod", "Dockerfile.x", "mime.types", "VERSION", "notes"])
def test_files_of_programs_are_no_documents(path):
    assert not choose(path, PLAIN, CODE)


@pytest.mark.parametrize("path", ["requirements.txt", "robots.txt"])
def test_lists_for_programs_are_no_documents(path):
    assert not choose(path, PLAIN, CODE)


@pytest.mark.parametrize("path", ["tests/case.md", "license.md"])
def test_in_a_folder_of_notes_every_text_is_a_document(path):
    assert choose(path, MARKDOWN, ("b.md", MARKDOWN))
