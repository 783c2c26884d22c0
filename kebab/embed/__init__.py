"""Embedding models: the registry, downloads and conversion of weights, and the ONNX embedder."""

import os

# onnxruntime reads this when it is first imported; subprocesses inherit it.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
