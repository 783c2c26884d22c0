"""Fits the confidence of searches: the curves of each model and of words alone.

`cases` asks the questions of evaluation sets and keeps the signals of each search, `fit` fits the
curves, `report` counts what they decide on sets that were left out.
"""
