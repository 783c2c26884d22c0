"""Checks an answer of a language model against the evidence of its prompt.

`citations` runs the steps: it parses the markers (`markers`), splits the answer into claims
(`claims`), extracts their facts and key terms (`facts`, `key_terms`), verifies each claim
(`verification`, `support`), and quotes the supporting sentences.
"""
