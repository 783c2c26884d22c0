from tests.fakes.bench import make_context, models

__all__ = ["make_context", "models"]
