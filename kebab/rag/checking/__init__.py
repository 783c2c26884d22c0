"""Checks an answer of a language model against the evidence of its prompt.

`citations` runs the steps: it parses the markers (`markers`), splits the answer into claims and
verifies each (`claims`), or each block of code (`code_blocks`). `support` compares a claim with
passages by its facts (`facts`, `code_index`), its key terms (`terms`) and what it denies
(`clauses`), and quotes the supporting sentences.
"""
