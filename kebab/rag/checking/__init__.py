"""Checking: what a language model says, held against the passages that it was shown.

Markers are read (`markers`), the answer is split into claims (`claims`), their facts are looked up
(`facts`, `ground`), each claim is judged (`judge`), and what carries it is quoted (`quote`).
`cite` runs them in turn.
"""
