import zipfile

import pytest

from tools.old_indexes import FOLDER, REVISIONS


@pytest.mark.parametrize("name", REVISIONS)
def test_an_index_has_no_path_of_the_machine_that_built_it(name):
    with zipfile.ZipFile(FOLDER / f"{name}.zip") as archive:
        text = b"".join(map(archive.read, archive.namelist()))
    assert b"/home/ada/notes" in text
    assert b"/tmp/" not in text
    assert b"/root/" not in text
