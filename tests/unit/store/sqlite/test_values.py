import pytest

from kebab.store.sqlite.values import as_json, clamped, signed, strings, unsigned


@pytest.mark.parametrize("inode", [0, 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_every_inode_survives_the_way_through_the_database(inode):
    assert -(2**63) <= signed(inode) < 2**63
    assert unsigned(signed(inode)) == inode


def test_times_beyond_64_bits_are_held_at_the_end():
    assert (clamped(2**70), clamped(-(2**70)), clamped(5)) == (2**63 - 1, -(2**63) + 1, 5)


def test_lists_of_strings_come_back():
    words = ("", "a b", '"', "한글", "\n")
    assert strings(as_json(words)) == words
    assert strings("[]") == ()
