"""Measures rankings, confidence and refusals over a folder of evaluation sets.

A set is a folder with `docs/` and `queries.jsonl`. Files `queries-*.jsonl` hold further questions
over the same documents, such as the same questions in another language, and `unanswerable.jsonl`
questions that the documents do not answer. Run from a checkout:

    python -m tools.quality sets SETS --bases FOLDER
    python -m tools.quality calibration SETS --bases FOLDER --cases FILE
    python -m tools.quality absence SETS --bases FOLDER
    python -m tools.quality code PACKAGES OUT
"""
