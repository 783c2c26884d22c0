"""Answers: from passages to claims that each point at the lines that carry them.

The gate (`gate`) decides whether the notes say anything at all. Then a language model words the
answer (`generate`, with `prompting` before and `checking` after it), or sentences are taken as
they stand (`quoting`, `extract`, `recite`). `engine` runs them in turn and sees ports only.
"""
