"""Programs for the developers of kebab; the wheel does not contain them."""
