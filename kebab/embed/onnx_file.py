"""Reads, writes and quantises ONNX models, without the package `onnx`.

An ONNX file is one protobuf message. Only the fields that a model needs are decoded; the others are
kept as they are. Source of the field numbers:
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

Field: TypeAlias = tuple[int, int | float | bytes]
"""A number and its value: a varint, a 32-bit float, or bytes (texts and messages too)."""

Described: TypeAlias = tuple[int, Sequence[str | int]]
"""The element type of a value, and the size or the name of each axis."""

OPSET = 20
IR_VERSION = 9
"""The oldest that this operator set may come with, so that older runtimes load it too."""

FLOAT, INT64 = 1, 7
"""Two element types of tensors, as attributes and inputs name them."""

_HALF = 10
_MATRIX_AXES = 2
_DTYPES = {
    FLOAT: "<f4",
    2: "|u1",
    3: "|i1",
    6: "<i4",
    INT64: "<i8",
    9: "|b1",
    _HALF: "<f2",
    11: "<f8",
}
_ELEMENT_TYPES = {np.dtype(layout): number for number, layout in _DTYPES.items()}

# Fields of `ModelProto`, `GraphProto`, `NodeProto`, `AttributeProto` and `TensorProto`.
_IR_VERSION, _GRAPH, _OPSETS = 1, 7, 8
_NODE, _GRAPH_NAME, _INITIALIZER, _INPUT, _OUTPUT, _VALUE = 1, 2, 5, 11, 12, 13
_NODE_INPUT, _NODE_OUTPUT, _NODE_NAME, _OPERATOR, _ATTRIBUTE = 1, 2, 3, 4, 5
_DIMENSIONS, _ELEMENT_TYPE, _TENSOR_NAME, _RAW_DATA = 1, 2, 8, 9
_FLOAT_DATA, _INT32_DATA, _INT64_DATA = 4, 5, 7
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14
_UNREAD_DATA = {6, 10, 11, _EXTERNAL_DATA}  # texts, doubles, unsigned numbers of 64 bits

_EXTERNAL_BYTES = 1024
"""The size from which a tensor is stored outside of the graph."""

_ALIGNMENT = 64  # of tensors in the file of the weights: a line of the processor's cache
_VARINT, _BYTES, _FIXED_32 = 0, 2, 5
_SEVEN_BITS, _MORE = 0x7F, 0x80  # of a byte of a varint, and the mark that another follows


def encode_message(fields: Iterable[tuple[int, int | float | str | bytes]]) -> bytes:
    """Return the protobuf message of these fields."""
    parts = bytearray()
    for number, value in fields:
        match value:
            case int():
                parts += _encode_varint(number << 3 | _VARINT) + _encode_varint(value)
            case float():
                parts += _encode_varint(number << 3 | _FIXED_32) + struct.pack("<f", value)
            case _:
                data = value.encode() if isinstance(value, str) else value
                parts += _encode_varint(number << 3 | _BYTES) + _encode_varint(len(data)) + data
    return bytes(parts)


def _encode_varint(value: int) -> bytes:
    """Return seven bits in each byte, the lowest first; negative numbers have 64 bits."""
    value &= (1 << 64) - 1
    parts = bytearray()
    while value > _SEVEN_BITS:
        parts.append(value & _SEVEN_BITS | _MORE)
        value >>= 7
    return bytes([*parts, value])


def decode_message(data: bytes) -> Iterator[Field]:
    """Yield the fields of a protobuf message.

    Raises:
        ValueError: The bytes are no such message.
    """
    position = 0
    while position < len(data):
        key, position = _decode_varint(data, position)
        match key & 7:
            case 0:
                value, position = _decode_varint(data, position)
                yield key >> 3, value
                continue
            case 2:
                size, position = _decode_varint(data, position)
            case 5:
                size = 4
            case kind:
                raise ValueError(f"the ONNX file has a field of an unknown kind: {kind}")
        part = data[position : position + size]
        position += size
        if len(part) < size:
            raise ValueError("the ONNX file is incomplete")
        yield key >> 3, struct.unpack("<f", part)[0] if key & 7 == _FIXED_32 else part


def _decode_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the number at a position as a signed one of 64 bits, and the position after it."""
    value = 0
    for shift in range(0, 64, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & _SEVEN_BITS) << shift
        if not byte & _MORE:
            value &= (1 << 64) - 1
            return value - (1 << 64) if value >> 63 else value, position
    raise ValueError("the ONNX file is incomplete")


class Node(Struct):
    """One operator of a graph; `others` are its attributes and further fields."""

    operator: str
    inputs: list[str]
    outputs: list[str]
    name: str = ""
    others: list[Field] = field(default_factory=list)


def build_node(
    operator: str, inputs: Iterable[str], outputs: Iterable[str], **attributes: Any
) -> Node:
    """Return a node with these attributes: integers, floats, or lists of integers."""
    first, *others = outputs
    encoded: list[Field] = []
    for name, value in sorted(attributes.items()):
        match value:
            case int():
                content: list[tuple[int, int | float | str]] = [(3, value), (20, 2)]
            case float():
                content = [(2, value), (20, 1)]
            case _:
                content = [*((8, each) for each in value), (20, 7)]
        encoded.append((_ATTRIBUTE, encode_message([(1, name), *content])))
    return Node(operator, list(inputs), [first, *others], first, encoded)


class OnnxModel(Struct):
    """The nodes of a graph in their order and its constants by name.

    `graph_fields` are the other fields of the graph (name, inputs, outputs), `model_fields` those
    of the model (versions).
    """

    nodes: list[Node]
    constants: "dict[str, NDArray[Any]]"
    graph_fields: list[Field]
    model_fields: list[Field]

    def to_bytes(self) -> bytes:
        """Return the ONNX file with the constants inside."""
        return self._encode(
            [*_describe_tensor(name, value), (_RAW_DATA, np.ascontiguousarray(value).tobytes())]
            for name, value in self.constants.items()
        )

    def save(self, target: "Path", weights: "Path") -> None:
        """Write the graph, and its large constants to a second file in the same folder.

        The runtime maps such constants instead of copying them, so a model loads in less than half
        the time and takes half the memory.
        """
        tensors = []
        with weights.open("wb") as file:
            for name, value in self.constants.items():
                data = np.ascontiguousarray(value)
                content: list[Field] = [(_RAW_DATA, data.tobytes())]
                if data.nbytes >= _EXTERNAL_BYTES:
                    file.write(bytes(-file.tell() % _ALIGNMENT))
                    place = {"location": weights.name, "offset": file.tell(), "length": data.nbytes}
                    file.write(data.data)
                    content = [
                        (_EXTERNAL_DATA, encode_message([(1, key), (2, str(each))]))
                        for key, each in place.items()
                    ]
                    content.append((_DATA_LOCATION, 1))
                tensors.append([*_describe_tensor(name, value), *content])
        target.write_bytes(self._encode(tensors))

    def _encode(self, tensors: "Iterable[list[Any]]") -> bytes:
        nodes = [
            encode_message(
                [
                    *((_NODE_INPUT, each) for each in node.inputs),
                    *((_NODE_OUTPUT, each) for each in node.outputs),
                    (_NODE_NAME, node.name),
                    (_OPERATOR, node.operator),
                    *node.others,
                ]
            )
            for node in self.nodes
        ]
        graph = encode_message(
            sorted(
                [
                    *((_NODE, node) for node in nodes),
                    *((_INITIALIZER, encode_message(tensor)) for tensor in tensors),
                    *self.graph_fields,
                ],
                key=itemgetter(0),
            )
        )
        return encode_message(sorted([*self.model_fields, (_GRAPH, graph)], key=itemgetter(0)))


def _describe_tensor(name: str, value: "NDArray[Any]") -> list[tuple[int, int | str]]:
    kind = _ELEMENT_TYPES[value.dtype.newbyteorder("<")]
    shape = [(_DIMENSIONS, size) for size in value.shape]
    return [*shape, (_ELEMENT_TYPE, kind), (_TENSOR_NAME, name)]


def build_model(
    nodes: list[Node],
    constants: "dict[str, NDArray[Any]]",
    *,
    inputs: "Mapping[str, Described]",
    outputs: "Mapping[str, Described]",
    values: "Mapping[str, Described]",
) -> OnnxModel:
    """Return a model.

    Inputs, outputs and other values have an element type, and a number or a name for each axis.
    The operators are those of `OPSET`.
    """
    graph: list[tuple[int, str | bytes]] = [(_GRAPH_NAME, "graph")]
    for number, described in ((_INPUT, inputs), (_OUTPUT, outputs), (_VALUE, values)):
        for name, (kind, axes) in described.items():
            sizes = [encode_message([(2 if isinstance(axis, str) else 1, axis)]) for axis in axes]
            shape = encode_message((1, size) for size in sizes)
            tensor = encode_message([(1, encode_message([(1, kind), (2, shape)]))])
            graph.append((number, encode_message([(1, name), (2, tensor)])))
    return OnnxModel(
        nodes,
        constants,
        [(number, each.encode() if isinstance(each, str) else each) for number, each in graph],
        [(_IR_VERSION, IR_VERSION), (_OPSETS, encode_message([(2, OPSET)]))],
    )


def parse_model(data: bytes) -> OnnxModel:
    """Return the model of an ONNX file that holds its constants.

    Raises:
        ValueError: The bytes are no such file, or a constant has an unknown element type.
    """
    model_fields = list(decode_message(data))
    graphs = [value for number, value in model_fields if number == _GRAPH]
    if len(graphs) != 1 or not isinstance(graphs[0], bytes):
        raise ValueError("the ONNX file has no graph")
    model = OnnxModel([], {}, [], [each for each in model_fields if each[0] != _GRAPH])
    for number, value in decode_message(graphs[0]):
        if number == _NODE and isinstance(value, bytes):
            model.nodes.append(_parse_node(value))
        elif number == _INITIALIZER and isinstance(value, bytes):
            name, tensor = _parse_tensor(value)
            model.constants[name] = tensor
        else:
            model.graph_fields.append((number, value))
    return model


def _parse_node(data: bytes) -> Node:
    node = Node("", [], [])
    for number, value in decode_message(data):
        if not isinstance(value, bytes) or number > _OPERATOR:
            node.others.append((number, value))
        elif number == _NODE_INPUT:
            node.inputs.append(value.decode())
        elif number == _NODE_OUTPUT:
            node.outputs.append(value.decode())
        elif number == _NODE_NAME:
            node.name = value.decode()
        else:
            node.operator = value.decode()
    return node


def _parse_tensor(data: bytes) -> "tuple[str, NDArray[Any]]":
    """Return the name and the values of a constant.

    A writer may store numbers as raw bytes or in a list for their type, and may pack a list.
    """
    fields: dict[int, list[Any]] = {}
    for number, value in decode_message(data):
        fields.setdefault(number, []).append(value)
    name = fields.get(_TENSOR_NAME, [b""])[-1].decode()
    kind = fields.get(_ELEMENT_TYPE, [0])[-1]
    shape = _list_varints(fields.get(_DIMENSIONS, []))
    if kind not in _DTYPES or fields.keys() & _UNREAD_DATA:
        raise ValueError(f"a constant of the ONNX file is stored in an unknown way: {name}")
    dtype = np.dtype(_DTYPES[kind])
    if floats := fields.get(_FLOAT_DATA):
        packed = (each if isinstance(each, bytes) else struct.pack("<f", each) for each in floats)
        return name, np.frombuffer(b"".join(packed), "<f4").reshape(shape)
    numbers = _list_varints([*fields.get(_INT32_DATA, []), *fields.get(_INT64_DATA, [])])
    if not numbers:
        return name, np.frombuffer(b"".join(fields.get(_RAW_DATA, [])), dtype).reshape(shape)
    values = np.array(numbers, np.int64)
    # Halves in a list are the bits of the number.
    values = values.astype("<u2").view(dtype) if kind == _HALF else values.astype(dtype)
    return name, values.reshape(shape)


def _list_varints(values: list[int | bytes]) -> list[int]:
    """Return the numbers of a field that is repeated, or packed into bytes."""
    numbers = []
    for value in values:
        if isinstance(value, int):
            numbers.append(value)
            continue
        position = 0
        while position < len(value):
            number, position = _decode_varint(value, position)
            numbers.append(number)
    return numbers


def quantise_model(model: OnnxModel) -> OnnxModel:
    """Return the model with its matrices and lookup tables in 8 bits.

    A matrix has signed numbers and one scale per column, a table unsigned ones, one scale and a
    zero point. Tables of other types than float32 are packed already and stay. Activations are
    quantised while the model runs, over all tokens of one run. A vector would depend on the other
    texts of its batch, so each text runs alone. The graph is that of
    `onnxruntime.quantization.quantize_dynamic`.
    """
    quantised = replace(model, nodes=[], constants=dict(model.constants))
    activations: set[str] = set()
    for node in model.nodes:
        index = {"MatMul": 1, "Gather": 0}.get(node.operator)
        table = model.constants.get(node.inputs[index]) if index is not None else None
        if table is None or table.dtype != np.float32 or table.ndim != _MATRIX_AXES:
            quantised.nodes.append(node)
        elif node.operator == "Gather":
            quantised.nodes += _quantise_gather(node, quantised.constants)
        else:
            quantised.nodes += _quantise_product(node, quantised.constants, activations)
    used = {name for node in quantised.nodes for name in node.inputs}
    dropped = {name.encode() for name in quantised.constants.keys() - used}
    quantised.constants = {
        name: quantised.constants[name] for name in quantised.constants if name in used
    }
    # Files of old writers list constants as inputs too.
    quantised.graph_fields = [
        (number, value)
        for number, value in model.graph_fields
        if number != _INPUT
        or not isinstance(value, bytes)
        or dict(decode_message(value)).get(1) not in dropped
    ]
    return quantised


def _quantise_gather(node: Node, constants: "dict[str, NDArray[Any]]") -> list[Node]:
    name, (output,) = node.inputs[0], node.outputs
    rows, scale, zero = f"{output}_quantized", f"{name}_scale", f"{name}_zero_point"
    if scale not in constants:
        table = constants[name]
        low, high = min(float(table.min()), 0.0), max(float(table.max()), 0.0)
        step = (high - low) / 255 or 1.0
        zero_point = round(-low / step)
        numbers = np.rint(table / np.float32(step)) + zero_point
        constants[f"{name}_quantized"] = np.clip(numbers, 0, 255).astype(np.uint8)
        constants[scale] = np.array(step, np.float32)
        constants[zero] = np.array(zero_point, np.uint8)
    inputs = [f"{name}_quantized", *node.inputs[1:]]
    gather = replace(node, name=rows, inputs=inputs, outputs=[rows])
    return [gather, build_node("DequantizeLinear", [rows, scale, zero], [output])]


def _quantise_product(
    node: Node, constants: "dict[str, NDArray[Any]]", activations: set[str]
) -> list[Node]:
    value, name = node.inputs
    (output,) = node.outputs
    nodes = []
    quantised = [f"{value}_{part}" for part in ("quantized", "scale", "zero_point")]
    if value not in activations:
        activations.add(value)
        nodes.append(build_node("DynamicQuantizeLinear", [value], quantised))
    if f"{name}_scale" not in constants:
        matrix = constants[name]
        scales = (np.abs(matrix).max(axis=0).astype(np.float64) / 127).astype(np.float32)
        scales[scales < np.finfo(np.float32).tiny] = 1.0
        constants[f"{name}_quantized"] = np.clip(np.rint(matrix / scales), -127, 127).astype(
            np.int8
        )
        constants[f"{name}_scale"] = scales
        constants[f"{name}_zero_point"] = np.zeros(len(scales), np.int8)
    inputs = [quantised[0], f"{name}_quantized", quantised[2], f"{name}_zero_point"]
    whole, plain, both = f"{output}_whole", f"{output}_plain", f"{output}_scale"
    return [
        *nodes,
        build_node("MatMulInteger", inputs, [whole]),
        build_node("Cast", [whole], [plain], to=FLOAT),
        build_node("Mul", [quantised[1], f"{name}_scale"], [both]),
        build_node("Mul", [plain, both], [output]),
    ]
