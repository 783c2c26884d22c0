import numpy as np
import pytest

from kebab.embed.convert import parse_safetensors
from tests.fakes.tiny_model import build_safetensors

TENSORS = {
    "first": np.arange(6, dtype=np.float32).reshape(2, 3),
    "second": np.array([1.5], dtype=np.float32),
}


def test_tensors_come_back_with_names_shapes_and_values():
    found = parse_safetensors(build_safetensors(TENSORS))

    assert list(found) == ["first", "second"]
    assert all(np.array_equal(found[name], TENSORS[name]) for name in TENSORS)


@pytest.mark.parametrize("kept", [0, 4, 8, 40, -1])
def test_a_cut_file_is_refused(kept):
    with pytest.raises(ValueError, match=r"safetensors|Expecting|cut"):
        parse_safetensors(build_safetensors(TENSORS)[:kept])


def test_an_unknown_dtype_is_refused():
    with pytest.raises(ValueError, match="unknown dtype: X32"):
        parse_safetensors(build_safetensors(TENSORS).replace(b'"F32"', b'"X32"'))


def test_an_undescribed_tensor_is_refused():
    with pytest.raises(ValueError, match="not described"):
        parse_safetensors(build_safetensors(TENSORS).replace(b'"dtype"', b'"dtipe"'))
