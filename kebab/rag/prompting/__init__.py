"""Prompting: what a language model is told, and how little when that was too much.

Passages are packed into its window (`pack`), fenced as data (`fence`, `defuse`) and put between
rules and question (`prompt`); a follow-up is made to stand alone first (`followup`).
"""
