import pytest

from kebab.store.lance.vector_file import HEADER_BYTES, Header

STAMP = bytes(range(16))


def test_headers_survive_packing(tmp_path):
    header = Header(384, 2**40, STAMP)
    assert Header.unpack(header.pack()) == header
    with (tmp_path / "file").open("w+b") as file:
        file.write(bytes(2 * HEADER_BYTES))
        file.flush()
        header.write(file)
        file.seek(0)
        assert Header.unpack(file.read(HEADER_BYTES)) == header


@pytest.mark.parametrize("raw", [b"short", bytes(HEADER_BYTES)])
def test_bytes_that_are_not_a_header_are_none(raw):
    assert Header.unpack(raw) is None


def test_a_flipped_bit_is_noticed():
    raw = bytearray(Header(384, 5, STAMP).pack())
    raw[20] ^= 1
    assert Header.unpack(bytes(raw)) is None
