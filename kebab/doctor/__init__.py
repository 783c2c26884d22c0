"""Whether the knowledge base and all it stands on are well, and the command that mends the rest.

Every check sees only the callables it is given, so a check is a question and `app` knows whom to
ask.
"""
