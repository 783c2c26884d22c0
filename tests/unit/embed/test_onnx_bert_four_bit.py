import numpy as np
import pytest

from kebab.embed.onnx_bert import parse_four_bit_table
from tests.fakes.e5s1 import pack_four_bit


def test_low_nibbles_come_first_and_high_nibbles_after_them():
    block = np.float16(0.5).tobytes() + bytes([0xF0 | number for number in range(16)])

    values = parse_four_bit_table(block, 1, 32).to_float()

    expected = [(number - 8) * 0.5 for number in range(16)] + [3.5] * 16
    assert values.tolist() == [expected]


def test_every_block_has_its_own_scale():
    matrix = np.repeat([[7.0], [70.0], [-700.0]], 64, axis=1)

    table = parse_four_bit_table(pack_four_bit(matrix), 3, 64)

    assert table.shape == (3, 64)
    assert np.allclose(table.to_float(), matrix, rtol=1e-3)


@pytest.mark.parametrize(("rows", "columns"), [(2, 64), (4, 64), (3, 32), (3, 60), (0, 64)])
def test_another_size_is_refused(rows, columns):
    data = pack_four_bit(np.ones((3, 64)))

    with pytest.raises(ValueError, match="wrong size"):
        parse_four_bit_table(data, rows, columns)


def test_a_scale_that_is_no_number_is_refused():
    data = np.float16("nan").tobytes() + bytes(16)

    with pytest.raises(ValueError, match="not a number"):
        parse_four_bit_table(data, 1, 32)
