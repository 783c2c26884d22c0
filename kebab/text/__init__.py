"""Text: tokenizer, sentences, layout, scripts, languages and normal forms, one of each.

Search, answers, parsing and storage all use these functions, so that they agree on what a word,
a sentence and a language is.
"""
