"""Splits and classifies text: tokens, sentences, layout, scripts, languages and normal forms.

Search, answers, parsing and storage share these functions, so that they agree on words, sentences
and languages.
"""
