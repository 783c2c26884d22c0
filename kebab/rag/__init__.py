"""Answers: from passages to claims that each point at the lines that carry them.

The gate (`gate`) decides whether the notes say anything at all, passages are packed (`pack`) and
fenced as data (`prompt`), a language model writes or sentences are taken as they stand
(`extract`), and what comes back is checked against the passages (`markers`, `claims`, `ground`,
`cite`). `engine` runs them in turn and sees ports only.
"""
