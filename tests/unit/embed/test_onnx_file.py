"""Our ONNX files, held to the package `onnx` and to the quantisation of onnxruntime."""

import logging

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from kebab.embed.onnx_file import (
    build_node,
    decode_message,
    encode_message,
    parse_model,
    quantise_model,
)
from tests.fakes import tiny_model

DATA = tiny_model.build_onnx()
IDS = np.array([[2, 5, 9, 14, 3]], np.int64)
FEED = {"input_ids": IDS, "attention_mask": np.ones_like(IDS), "token_type_ids": IDS * 0}


def run(source):
    return onnxruntime.InferenceSession(source).run(None, FEED)[0]


def test_a_file_is_the_one_that_onnx_writes():
    model = onnx.load_model_from_string(DATA)

    onnx.checker.check_model(model)
    assert model.SerializeToString() == DATA


def test_a_file_is_read_and_written_without_a_change():
    assert parse_model(DATA).to_bytes() == DATA


@pytest.mark.parametrize(
    "values",
    [
        np.array([[0.5, -2.0]], np.float32),
        np.array([1.5, -0.25], np.float16),
        np.array([0.1], np.float64),
        np.array([3, -(2**63)], np.int64),
        np.array([3, -4], np.int32),
        np.array([-3, 4], np.int8),
        np.array([200], np.uint8),
        np.array([True, False]),
        np.array(7.0, np.float32),
        np.zeros((0, 3), np.float32),
    ],
    ids=lambda values: f"{values.dtype}-{values.ndim}",
)
def test_constants_of_every_type_are_read_raw(values):
    found = parse_model(with_constant(numpy_helper.from_array(values, "x"))).constants["x"]

    assert (found.dtype, found.shape) == (values.dtype, values.shape)
    assert np.array_equal(found, values)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (TensorProto.FLOAT, [0.5, -2.0]),
        (TensorProto.FLOAT16, [0.5, -2.0]),
        (TensorProto.INT64, [5, -(2**63)]),
        (TensorProto.INT32, [5, -6]),
        (TensorProto.INT8, [-128, 6]),
        (TensorProto.BOOL, [True, False]),
    ],
)
def test_constants_are_read_from_lists(kind, values):
    tensor = helper.make_tensor("x", kind, [2], values)

    assert parse_model(with_constant(tensor)).constants["x"].tolist() == values


@pytest.mark.parametrize("kind", [TensorProto.STRING, TensorProto.DOUBLE])
def test_a_constant_that_cannot_be_read_is_refused(kind):
    tensor = helper.make_tensor("x", kind, [1], [b"word" if kind == TensorProto.STRING else 1.0])

    with pytest.raises(ValueError, match="a constant of the ONNX file"):
        parse_model(with_constant(tensor))


def with_constant(tensor):
    graph = helper.make_graph([], "g", [], [], [tensor])
    return helper.make_model(graph).SerializeToString()


@pytest.mark.parametrize(
    ("values", "attribute"),
    [
        ({"axis": -1}, helper.make_attribute("axis", -1)),
        ({"epsilon": 0.5}, helper.make_attribute("epsilon", 0.5)),
        ({"perm": [0, 2, 1]}, helper.make_attribute("perm", [0, 2, 1])),
    ],
)
def test_attributes_are_those_of_onnx(values, attribute):
    ((_, encoded),) = build_node("X", ["a"], ["b"], **values).others

    assert encoded == attribute.SerializeToString()


@pytest.mark.parametrize("number", [0, 127, 128, -(2**63)])
def test_numbers_of_64_bits_are_read_as_they_were_written(number):
    assert list(decode_message(encode_message([(15, number)]))) == [(15, number)]


@pytest.mark.parametrize("data", [b"", b"\x08\x09", DATA[: len(DATA) // 2], b"\xff" * 30, b"\x0b"])
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match="the ONNX file"):
        parse_model(data)


def test_large_constants_are_saved_beside_the_graph(tmp_path):
    path, weights = tmp_path / "model.onnx", tmp_path / "weights"
    parse_model(DATA).save(path, weights)

    onnx.checker.check_model(str(path))
    loaded = onnx.load(path)
    for constant in loaded.graph.initializer:
        constant.ClearField("data_location")
        assert not constant.external_data
    assert loaded.SerializeToString() == DATA
    assert (run(path) == run(DATA)).all()
    assert path.stat().st_size < weights.stat().st_size / 50


@pytest.fixture
def reference(tmp_path, caplog):
    """The model as onnxruntime quantises it."""
    caplog.set_level(logging.ERROR)
    target = tmp_path / "reference.onnx"
    quantize_dynamic(
        onnx.load_model_from_string(DATA),
        target,
        op_types_to_quantize=["MatMul", "Gather"],
        per_channel=True,
        weight_type=QuantType.QInt8,
    )
    return target


def test_the_quantised_numbers_are_those_of_onnxruntime(reference):
    expected, found = parse_model(reference.read_bytes()), quantise_model(parse_model(DATA))

    assert found.constants.keys() == expected.constants.keys()
    for name, values in expected.constants.items():
        assert found.constants[name].dtype == values.dtype
        assert np.array_equal(found.constants[name], values), name
    operators = [sorted(node.operator for node in model.nodes) for model in (found, expected)]
    assert operators[0] == operators[1]


def test_a_quantised_model_gives_the_vectors_of_onnxruntime(reference):
    data = quantise_model(parse_model(DATA)).to_bytes()

    onnx.checker.check_model(onnx.load_model_from_string(data))
    assert len(data) < len(DATA) / 2
    assert np.abs(run(data) - run(reference)).max() < 1e-5
    whole, quantised = (run(source)[0].mean(axis=0) for source in (DATA, data))
    assert whole @ quantised / np.linalg.norm(whole) / np.linalg.norm(quantised) > 0.99
