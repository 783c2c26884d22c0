"""Measures rankings and confidence over a folder of evaluation sets.

A set is a folder with `docs/` and `queries.jsonl`; files `queries-*.jsonl` hold further questions
over the same documents, such as the same questions in another language.
"""
