"""Embedding models: which there are, how their weights are had, and how text becomes vectors."""

import os

# onnxruntime reports usage unless told otherwise before its first import; child processes inherit.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
