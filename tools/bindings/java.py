"""Renders the error catalogue in Java: an enumeration of codes, each with its row."""

from collections.abc import Iterable
from enum import Enum

from kebab.errors.catalog import build_catalog
from kebab.errors.signal import Backoff, Canonical, Kind, Origin, Retry, Severity, Signal
from tools.bindings.names import (
    ORIGIN,
    format_boolean,
    list_values,
    quote,
    summarize,
    to_constant_case,
)

_OPENING = f"""\
// {ORIGIN}

package kebab;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The catalogue of errors that kebab reports as {{@code error.v1}}.
 *
 * <p>Branch on the code only, and treat an unknown code as failure.
 */
public final class Errors {{
  private Errors() {{}}
"""
_SHAPES = """
  /** How long to wait before trying again: a suggestion, which may change. */
  public record Backoff(int firstMs, double factor, int ceilingMs, int attempts) {}

  /** What callers may rely on of one code; no backoff where trying again makes no sense. */
  public record Row(
      Kind kind,
      Canonical canonical,
      String domain,
      Origin origin,
      int exit,
      int http,
      String grpc,
      Retry retry,
      boolean retryable,
      Optional<Backoff> backoff,
      Severity severity,
      boolean isPublic,
      boolean retired,
      boolean reserved) {}
"""
_CODES = """\

    private static final Map<String, Code> BY_ID =
        Arrays.stream(values())
            .collect(Collectors.toUnmodifiableMap(Code::id, Function.identity()));

    private final String id;
    private final Row row;

    Code(String id, Row row) {
      this.id = id;
      this.row = row;
    }

    /** Returns the code as it stands in JSON. */
    public String id() {
      return id;
    }

    /** Returns what callers may rely on. */
    public Row row() {
      return row;
    }

    /** Returns the code that stands in JSON; empty when this build of the table lacks it. */
    public static Optional<Code> of(String id) {
      return Optional.ofNullable(BY_ID.get(id));
    }
  }
}
"""
_NAMES: tuple[tuple[str, str, type[Enum]], ...] = (
    ("Kind", "The family of an error.", Kind),
    ("Canonical", "One of the six canonical codes.", Canonical),
    ("Origin", "The layer that raises an error.", Origin),
    ("Retry", "Whether the same call may succeed later.", Retry),
    ("Severity", "How bad an error is.", Severity),
)


def render_source() -> str:
    """Return `Errors.java`."""
    names = (_render_names(name, what, list_values(kind)) for name, what, kind in _NAMES)
    return "".join([_OPENING, *names, _SHAPES, _render_codes(build_catalog()), _CODES])


def _render_names(name: str, what: str, members: Iterable[str]) -> str:
    lines = ",\n".join(f"    {to_constant_case(one)}({quote(one)})" for one in members)
    return f"""
  /** {what} */
  public enum {name} {{
{lines};

    private final String id;

    {name}(String id) {{
      this.id = id;
    }}

    /** Returns the name as it stands in JSON. */
    public String id() {{
      return id;
    }}
  }}
"""


def _render_codes(rows: dict[str, type[Signal]]) -> str:
    constants = ",\n".join(_render_constant(code, signal) for code, signal in rows.items())
    return f"\n  /** Every code. */\n  public enum Code {{\n{constants};\n"


def _render_constant(code: str, signal: type[Signal]) -> str:
    arguments = (
        f"Kind.{to_constant_case(signal.kind)}",
        f"Canonical.{to_constant_case(signal.canonical)}",
        quote(signal.domain),
        f"Origin.{to_constant_case(signal.origin)}",
        f"/* exit= */ {signal.exit.value}",
        f"/* http= */ {signal.http}",
        quote(signal.grpc),
        f"Retry.{to_constant_case(signal.retry)}",
        f"/* retryable= */ {format_boolean(value=signal.backoff is not None)}",
        _render_backoff(signal.backoff),
        f"Severity.{to_constant_case(signal.severity)}",
        f"/* isPublic= */ {format_boolean(value=signal.public)}",
        f"/* retired= */ {format_boolean(value=signal.retired)}",
        f"/* reserved= */ {format_boolean(value=signal.reserved)}",
    )
    lines = ",\n".join(f"            {one}" for one in arguments)
    return (
        f"    /** {summarize(signal)} */\n    {to_constant_case(code)}(\n        {quote(code)},\n"
        f"        new Row(\n{lines}))"
    )


def _render_backoff(advice: Backoff | None) -> str:
    if advice is None:
        return "Optional.empty()"
    numbers = (advice.first_ms, f"{advice.factor:.1f}", advice.ceiling_ms, advice.attempts)
    return f"Optional.of(new Backoff({', '.join(map(str, numbers))}))"
