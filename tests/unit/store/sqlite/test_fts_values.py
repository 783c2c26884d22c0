import pytest

from kebab.store.sqlite.fts import clamp_to_signed, parse_strings, to_json, to_signed, to_unsigned


@pytest.mark.parametrize("inode", [0, 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_every_inode_survives_conversion(inode):
    assert -(2**63) <= to_signed(inode) < 2**63
    assert to_unsigned(to_signed(inode)) == inode


def test_times_beyond_64_bits_are_clamped():
    assert (clamp_to_signed(2**70), clamp_to_signed(-(2**70)), clamp_to_signed(5)) == (
        2**63 - 1,
        -(2**63) + 1,
        5,
    )


def test_lists_of_strings_survive_conversion():
    words = ("", "a b", '"', "한글", "\n")
    assert parse_strings(to_json(words)) == words
    assert parse_strings("[]") == ()
