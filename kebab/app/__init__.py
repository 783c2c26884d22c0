"""The use cases: one module each, behind a facade that speaks wire objects."""
