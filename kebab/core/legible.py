"""Names that are no text: undecodable bytes made legible, because JSON cannot carry them."""


def legible(text: str) -> str:
    r"""Return text that UTF-8 can carry; bytes that are not UTF-8 are written as `\xNN`."""
    try:
        raw = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        raw = text.encode("utf-8", "surrogatepass")
    return raw.decode("utf-8", "backslashreplace")
