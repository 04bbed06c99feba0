"""The table of a fit, as text and as HTML."""

import html
import math
from typing import Any

HEAD = "name", "value", "sigma", "start"
ROUNDING = 1e-12  # relative; what has smaller standard deviations is held
SMALL, LARGE, MOST = 1e-4, 1e7, 10  # numbers, and decimals, that are written without exponents


def rows_of(fit: Any) -> list[tuple[str, str, str, str]]:
    """Return (name, value, standard deviation, value at the start) of each number."""
    found = []
    for place, (name, start) in enumerate(zip(fit.names, fit.start, strict=True)):
        value, sigma = float(fit.numbers[place]), math.sqrt(fit.covariance[place, place])
        if sigma <= ROUNDING * max(abs(value), fit.sizes[place]):
            shown = f"{value:.7g}", "held"
        else:
            shown = written(value, sigma)
        found.append((name, *shown, f"{start:.7g}"))
    return found


def written(value: float, sigma: float) -> tuple[str, str]:
    """Return a number and its standard deviation, of which two digits are shown."""
    decimals = 1 - math.floor(math.log10(sigma))
    size = max(abs(value), sigma)
    if SMALL <= size < LARGE and decimals < MOST:
        places = max(decimals, 0)
        return f"{value + 0.0:.{places}f}", f"{sigma:.{places}f}"
    digits = max(math.floor(math.log10(size)) + decimals, 1)
    return f"{value:.{digits}e}", f"{sigma:.1e}"


def facts_of(fit: Any) -> dict[str, str]:
    """Return the summary of a fit, by topic."""
    counts = {name: len(times) for name, times in fit.times.items()}
    facts = {"observed": ", ".join(f"{name} at {n} times" for name, n in counts.items())}
    facts["chi²"] = f"{fit.chi_square:.6g} for {fit.degrees_of_freedom} degrees of freedom"
    if fit.degrees_of_freedom > 0:
        facts["chi²"] += f" (probability {fit.probability:.2g})"
    if fit.hold:
        facts["held"] = ", ".join(fit.hold)
    if fit.loss != "linear":
        facts["loss"] = fit.loss
    flagged = {name: len(places) for name, places in fit.outliers.items() if len(places)}
    if flagged:
        listed = ", ".join(f"{n} in {name}" for name, n in flagged.items())
        facts["outliers"] = f"{listed}, with pulls beyond {fit.pull_bound:.2g}"
        if fit.loss == "linear":
            facts["outliers"] += "; try loss='soft_l1'"
    facts["work"] = f"{fit.iterations} steps tried, {fit.evaluations} motions solved"
    facts["ended"] = "success" if fit.success else f"not converged: {fit.message}"
    return facts


def as_text(fit: Any) -> str:
    """Format a fit as text."""
    rows = [HEAD, *rows_of(fit)]
    first = max(len(row[0]) for row in rows)
    widths = [max(len(row[k]) for row in rows) for k in range(1, len(HEAD))]
    lines = [
        f"  {row[0]:<{first}}  "
        + "  ".join(f"{c:>{w}}" for c, w in zip(row[1:], widths, strict=True))
        for row in rows
    ]
    facts = [f"  {topic:<9} {text}" for topic, text in facts_of(fit).items()]
    return "\n".join(["Fit", *facts, "", *lines])


def as_html(fit: Any) -> str:
    """Format a fit as two tables, for notebooks."""
    facts = "".join(
        f"<tr><th style='text-align:left'>{html.escape(k)}</th>"
        f"<td style='text-align:left'>{html.escape(v)}</td></tr>"
        for k, v in facts_of(fit).items()
    )
    head = "".join(f"<th>{cell}</th>" for cell in HEAD)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows_of(fit)
    )
    return f"<table><caption>Fit</caption>{facts}</table><table><tr>{head}</tr>{body}</table>"
