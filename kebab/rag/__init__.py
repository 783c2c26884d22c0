"""Answers questions from retrieved evidence.

`engine` decides whether the evidence is good enough. `generative_answer` asks a language model and
checks its `claims`; `extractive_answer` quotes sentences. All of them use ports only.
"""

PROMPT_VERSION = "rag-v1"
"""The version of the prompt. It is defined here because importing this package is cheap."""
