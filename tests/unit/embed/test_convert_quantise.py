import numpy as np
import onnx
import onnxruntime

from kebab.embed.convert import quantise_model
from tests.fakes import tiny_model


def test_a_quantised_model_is_smaller_and_points_the_same_way(tmp_path):
    target = tmp_path / "model.onnx"
    data = tiny_model.build_onnx()

    quantise_model(onnx.load_model_from_string(data), target)

    assert target.stat().st_size < len(data) / 2
    ids = np.array([[2, 5, 9, 14, 3]], np.int64)
    feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": ids * 0}
    first, second = (
        onnxruntime.InferenceSession(source).run(None, feed)[0][0].mean(axis=0)
        for source in (data, target)
    )
    assert first @ second / np.linalg.norm(first) / np.linalg.norm(second) > 0.99
