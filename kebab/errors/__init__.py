"""The errors of kebab: one class each; this package imports no other package of kebab."""
