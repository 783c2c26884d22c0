"""The one place that speaks HTTP to Ollama, and its table of failures."""
