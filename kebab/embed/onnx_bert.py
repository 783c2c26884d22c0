"""Builds the ONNX graph of a BERT encoder from its weights, as sentence-transformers name them.

Written out here because exporting it any other way needs torch.
Source of the architecture: Devlin et al., 2018, https://arxiv.org/abs/1810.04805.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from kebab.embed.four_bit import CENTRE, FourBitTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

OPSET = 20
IR_VERSION = 9  # the oldest that opset 20 may come with, so that older runtimes load it too
Weight: TypeAlias = "NDArray[np.generic] | FourBitTable"
"""A tensor of the encoder: plain numbers, or a matrix of 4-bit numbers."""

_MASKED = -10_000.0  # added to the score of a padded position; far below any real score


@dataclass(slots=True)
class _Graph:
    """Nodes and constants as they are added, and a name for each value."""

    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, Any] = field(default_factory=dict)

    def add(self, operator: str, name: str, *inputs: str, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        self.nodes.append(helper.make_node(operator, list(inputs), [name], name, **attributes))
        return name

    def add_constant(self, name: str, value: "NDArray[np.generic]") -> str:
        """Add a constant and return its name."""
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name


class _Encoder:
    """The layers of the encoder, added to a graph one after the other."""

    def __init__(self, weights: "Mapping[str, Weight]", heads: int, epsilon: float) -> None:
        self._weights = weights
        self._heads = heads
        self._epsilon = epsilon
        self.hidden = int(weights["embeddings.word_embeddings.weight"].shape[1])
        self.layers = sum(name.endswith(".intermediate.dense.weight") for name in weights)
        self.graph = _Graph()

    def _add_weight(self, name: str) -> str:
        return self.graph.add_constant(name, self._get_matrix(name))

    def _get_matrix(self, name: str) -> "NDArray[np.float32]":
        weight = self._weights[name]
        return weight.to_float() if isinstance(weight, FourBitTable) else weight.astype(np.float32)

    def _add_lookup(self, name: str, ids: str) -> str:
        """Look up rows; a table of 4-bit numbers is stored as it is, and only rows are decoded."""
        table = self._weights[f"{name}.weight"]
        if isinstance(table, FourBitTable):
            return self._add_four_bit_lookup(name, table, ids)
        return self.graph.add("Gather", f"{name}.rows", self._add_weight(f"{name}.weight"), ids)

    def _add_four_bit_lookup(self, name: str, table: FourBitTable, ids: str) -> str:
        """Gather packed rows and their scales, and decode them in full precision."""
        add, constant = self.graph.add, self.graph.add_constant
        packed = add("Gather", f"{name}.packed", constant(f"{name}.nibbles", table.packed), ids)
        pairs = add("Cast", f"{name}.pairs", packed, to=TensorProto.FLOAT)
        base = constant("nibble_base", np.array(16, np.float32))
        high = add("Floor", f"{name}.high", add("Div", f"{name}.shifted", pairs, base))
        low = add("Sub", f"{name}.low", pairs, add("Mul", f"{name}.cleared", high, base))
        nibbles = add("Concat", f"{name}.values", low, high, axis=-1)
        centre = constant("nibble_centre", np.array(CENTRE, np.float32))
        centred = add("Sub", f"{name}.centred", nibbles, centre)
        last = constant("last_axis", np.array([-1], np.int64))
        scales = add("Gather", f"{name}.halves", constant(f"{name}.scales", table.scales), ids)
        scale = add("Cast", f"{name}.scale", scales, to=TensorProto.FLOAT)
        wide = add("Unsqueeze", f"{name}.wide", scale, last)
        flat = constant("flat", np.array([0, 0, self.hidden], np.int64))
        return add("Reshape", f"{name}.rows", add("Mul", f"{name}.scaled", centred, wide), flat)

    def _add_linear(self, name: str, value: str) -> str:
        """Multiply by a weight matrix, stored as (out, in), and add its bias."""
        matrix = self._get_matrix(f"{name}.weight").T
        weight = self.graph.add_constant(f"{name}.weight", matrix)
        product = self.graph.add("MatMul", f"{name}.product", value, weight)
        return self.graph.add("Add", f"{name}.sum", product, self._add_weight(f"{name}.bias"))

    def _add_norm(self, name: str, value: str) -> str:
        scale, bias = self._add_weight(f"{name}.weight"), self._add_weight(f"{name}.bias")
        kind, output, epsilon = "LayerNormalization", f"{name}.norm", self._epsilon
        return self.graph.add(kind, output, value, scale, bias, axis=-1, epsilon=epsilon)

    def _add_split(self, name: str, value: str, order: list[int]) -> str:
        """Split the hidden axis into heads and order the axes."""
        shape = np.array([0, 0, self._heads, self.hidden // self._heads], np.int64)
        sizes = self.graph.add_constant("heads", shape)
        split = self.graph.add("Reshape", f"{name}.split", value, sizes)
        return self.graph.add("Transpose", f"{name}.heads", split, perm=order)

    def add_embeddings(self) -> str:
        """Sum the embeddings of word, position and segment."""
        add = self.graph.add
        words = self._add_lookup("embeddings.word_embeddings", "input_ids")
        segments = self._add_lookup("embeddings.token_type_embeddings", "token_type_ids")
        both = add("Add", "embeddings.word_segment", words, segments)
        summed = add("Add", "embeddings.sum", both, self._add_positions())
        return self._add_norm("embeddings.LayerNorm", summed)

    def _add_positions(self) -> str:
        """Slice the table of positions to the length of the batch."""
        table = self._add_weight("embeddings.position_embeddings.weight")
        first = self.graph.add_constant("first", np.array([0], np.int64))
        length = self.graph.add("Shape", "length", "input_ids", start=1, end=2)
        return self.graph.add("Slice", "embeddings.positions", table, first, length, first)

    def add_mask(self) -> str:
        """Turn the attention mask into what is added to scores: zero, or far below."""
        add = self.graph.add
        axes = self.graph.add_constant("mask_axes", np.array([1, 2], np.int64))
        wide = add("Unsqueeze", "mask.wide", "attention_mask", axes)
        real = add("Cast", "mask.real", wide, to=TensorProto.FLOAT)
        one = self.graph.add_constant("mask_one", np.array(1.0, np.float32))
        far = self.graph.add_constant("mask_far", np.array(_MASKED, np.float32))
        return add("Mul", "mask.added", add("Sub", "mask.padded", one, real), far)

    def _add_attention(self, prefix: str, value: str, mask: str) -> str:
        add, name = self.graph.add, f"{prefix}.attention"
        query = self._add_linear(f"{name}.self.query", value)
        key = self._add_linear(f"{name}.self.key", value)
        content = self._add_linear(f"{name}.self.value", value)
        query = self._add_split(f"{name}.self.query", query, [0, 2, 1, 3])
        key = self._add_split(f"{name}.self.key", key, [0, 2, 3, 1])
        content = self._add_split(f"{name}.self.value", content, [0, 2, 1, 3])
        root = np.sqrt(self.hidden / self._heads)
        scale = self.graph.add_constant("scale", np.array(root, np.float32))
        scores = add("Div", f"{name}.scaled", add("MatMul", f"{name}.scores", query, key), scale)
        shares = add(
            "Softmax", f"{name}.shares", add("Add", f"{name}.masked", scores, mask), axis=-1
        )
        mixed = add("MatMul", f"{name}.mixed", shares, content)
        joined = add("Transpose", f"{name}.joined", mixed, perm=[0, 2, 1, 3])
        sizes = self.graph.add_constant("flat", np.array([0, 0, self.hidden], np.int64))
        dense = self._add_linear(
            f"{name}.output.dense", add("Reshape", f"{name}.flat", joined, sizes)
        )
        return self._add_norm(
            f"{name}.output.LayerNorm", add("Add", f"{name}.residual", dense, value)
        )

    def add_layer(self, index: int, value: str, mask: str) -> str:
        """Add one layer: attention, then the feed-forward part."""
        prefix = f"encoder.layer.{index}"
        attended = self._add_attention(prefix, value, mask)
        wide = self._add_linear(f"{prefix}.intermediate.dense", attended)
        active = self.graph.add("Gelu", f"{prefix}.gelu", wide)
        narrow = self._add_linear(f"{prefix}.output.dense", active)
        summed = self.graph.add("Add", f"{prefix}.residual", narrow, attended)
        return self._add_norm(f"{prefix}.output.LayerNorm", summed)


def build_graph(weights: "Mapping[str, Weight]", *, heads: int = 12, epsilon: float = 1e-12) -> Any:
    """Return the checked `onnx.ModelProto` of the encoder.

    `heads` and the `epsilon` of layer normalisation are those of BERT's base size by default.
    Inputs `input_ids`, `attention_mask` and `token_type_ids` are int64 of shape (batch, length);
    the output `last_hidden_state` is float32 of shape (batch, length, hidden).

    Raises:
        KeyError: A weight is missing.
    """
    encoder = _Encoder(weights, heads, epsilon)
    mask, value = encoder.add_mask(), encoder.add_embeddings()
    for index in range(encoder.layers):
        value = encoder.add_layer(index, value, mask)
    encoder.graph.add("Identity", "last_hidden_state", value)
    names = ("input_ids", "attention_mask", "token_type_ids")
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in names
    ]
    output = helper.make_tensor_value_info(
        "last_hidden_state", TensorProto.FLOAT, ["batch", "length", encoder.hidden]
    )
    graph = helper.make_graph(
        encoder.graph.nodes, "bert", inputs, [output], list(encoder.graph.constants.values())
    )
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    onnx.checker.check_model(model)
    return model
