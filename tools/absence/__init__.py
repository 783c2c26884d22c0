"""Measures the answers to questions that the notes do not answer, and fits the weights of doubts.

`swaps` makes such questions from answerable ones, `measure` asks and counts, `fit` fits.
"""
