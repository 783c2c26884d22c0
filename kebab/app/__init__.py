"""The operations of a knowledge base, behind a facade that takes and returns wire records."""
