import io
import random
import zipfile

import pytest

from tools.fuzz.mutations import MUTATIONS, mutate_file, mutate_member

SAMPLE = b"# Notes 11\n\nSome text of one note, 100 words.\n" * 20


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_mutation_depends_on_its_seed_alone(mutation):
    results = [mutation(bytearray(SAMPLE), random.Random(7), [SAMPLE[::-1]]) for _ in range(2)]
    assert results[0] == results[1] != SAMPLE


def test_an_empty_sample_becomes_noise():
    assert len(mutate_file(b"", random.Random(1), [SAMPLE])) <= 64


def test_a_member_of_a_zip_file_is_mutated_and_the_others_stay():
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("a.xml", SAMPLE)
        archive.writestr("b.xml", SAMPLE)
    changed = mutate_member(target.getvalue(), random.Random(3), [SAMPLE])
    assert changed is not None
    with zipfile.ZipFile(io.BytesIO(changed)) as archive:
        contents = [archive.read(name) for name in archive.namelist()]
    assert contents.count(SAMPLE) == 1


def test_a_file_that_is_no_zip_has_no_members():
    assert mutate_member(b"PK nothing", random.Random(1), [SAMPLE]) is None
