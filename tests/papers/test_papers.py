"""Every claim of every paper: the verdict of the quick reproduction is the expected one."""

import re
from pathlib import Path

import pytest

from polhode.papers import PAPERS
from polhode.papers.claims import (
    CORRECTED,
    FAILS,
    HOLDS,
    VERDICTS,
    Claim,
    Report,
    Statements,
    Untestable,
    judged,
)

DOCS = Path(__file__).parents[2] / "docs" / "papers"
FIGURES = {"krysl2006": 5, "celledoni2006": 8, "boyle2017": 5, "mandre2008": 3, "fukushima1995": 2}
CASES = [(paper.name, s.name) for paper in PAPERS.values() for s in paper.statements]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The quick reproduction of a paper, made once, and what it said on the way."""
    made = {}

    def report(name):
        if name not in made:
            made[name] = "it stopped before"  # and does so only once
            said = []
            out = tmp_path_factory.mktemp(name) / "not" / "there yet"
            made[name] = PAPERS[name].reproduce(True, out, said.append), said
        assert not isinstance(made[name], str), made[name]
        return made[name]

    return report


@pytest.mark.parametrize(("paper", "name"), CASES, ids=[f"{p}-{n}" for p, n in CASES])
def test_claim(reports, paper, name):
    report, _ = reports(paper)
    (claim,) = [claim for claim in report.claims if claim.name == name]
    assert re.search(r"\d", claim.measured), "a measurement has a number"
    assert claim.verdict in VERDICTS
    assert claim.as_expected, (claim.verdict, claim.measured)


@pytest.mark.parametrize("paper", PAPERS)
def test_report(reports, paper):
    report, said = reports(paper)
    assert report.ok
    assert [c.name for c in report.claims] == [s.name for s in PAPERS[paper].statements]
    assert all(isinstance(line, str) and line for line in said)
    assert len(said) >= len(report.claims)
    assert len(report.figures) == FIGURES[paper]
    for path in report.figures:
        assert path.suffix == ".png"
        assert path.read_bytes().startswith(b"\x89PNG")
        assert path.stat().st_size > 20_000  # a blank sheet of this size has about 5 kB


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_full_form(tmp_path, paper):
    report = PAPERS[paper].reproduce(False, tmp_path, lambda line: None)
    odd = {c.name: (c.verdict, c.measured) for c in report.claims if not c.as_expected}
    assert not odd
    assert report.ok
    assert all(path.stat().st_size > 20_000 for path in report.figures)


# ---- the statements as data
@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_statements(paper):
    names = [s.name for s in paper.statements]
    assert len(set(names)) == len(names)
    for statement in paper.statements:
        assert statement.expected in VERDICTS
        assert statement.statement
        assert statement.claimed
        assert statement.expected == HOLDS or statement.note, "a correction is explained"


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_docs_have_every_claim(paper):
    """The table of the docs has a row for each statement, with its verdict."""
    text = (DOCS / f"{paper.name}.md").read_text(encoding="utf-8")
    rows = [line.replace("\\|", "¦").split("|") for line in text.splitlines() if line[:1] == "|"]
    verdicts = {row[2].strip(): row[5].strip() for row in rows if len(row) == 7}
    for statement in paper.statements:
        shown = verdicts[statement.statement.replace("|", "¦")].replace("**", "")
        assert shown.split(":")[0] == statement.expected


def test_ok_needs_every_claim_as_expected():
    good = Claim("1", "a", "b", "measured 1", HOLDS, name="good", expected=HOLDS)
    changed = Claim("1", "a", "b", "measured 2", HOLDS, name="changed", expected=FAILS)
    untested = Claim("1", "a", "b", "", HOLDS, name="untested", expected=HOLDS)
    slower = Claim("1", "a", "b", "3 times", FAILS, name="slower", expected=HOLDS, timed=True)
    assert Report((good,), ()).ok
    assert Report((good, slower), ()).ok, "a verdict that rests on a clock is only told"
    assert not Report((good, changed), ()).ok
    assert not Report((good, untested), ()).ok
    assert not Report((), ()).ok


def test_verdicts():
    assert judged(True) == judged(True, True) == HOLDS
    assert judged(False, True) == CORRECTED
    assert judged(False) == FAILS


def test_a_claim_that_cannot_be_tested():
    statements = Statements()

    @statements.claim("stops", "1", "it runs", claimed="runs")
    def stops(shared):
        raise Untestable(f"{shared} stopped")

    claim = statements[0].tested("the method")
    assert (claim.verdict, claim.measured, claim.note) == ("not tested", "", "the method stopped")
    assert not Report((claim,), ()).ok


def test_names_are_used_once():
    statements = Statements()
    add = statements.claim("a", "1", "it runs", claimed="runs")
    add(lambda shared: ("1", HOLDS))
    with pytest.raises(ValueError, match="'a'"):
        statements.claim("a", "1", "it runs", claimed="runs")
    with pytest.raises(ValueError, match="'perhaps'"):
        statements.claim("b", "1", "it runs", claimed="runs", expected="perhaps")


def test_a_bar_does_not_end_a_cell():
    claim = Claim("1", "|x|", "0", "|x| = 1", FAILS, note="why")
    assert Report((claim,), ()).markdown().splitlines()[-1] == (
        r"| 1 | \|x\| | 0 | \|x\| = 1 | **does not hold**: why |"
    )


def test_celledonis_free_body_to_twenty_digits():
    """The literals of the reference, made again by mpmath's Taylor series."""
    import mpmath

    from polhode.papers.celledoni2006 import reference

    moments = mpmath.mpf(5), mpmath.mpf(4), mpmath.mpf(3)

    def rates(t, state):
        w, x, y, z, *m = state
        a, b, c = (p / i for p, i in zip(m, moments, strict=True))
        turning = [-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c]
        turning.append(w * c + x * b - y * a)
        euler = [m[1] * c - m[2] * b, m[2] * a - m[0] * c, m[0] * b - m[1] * a]
        return [rate / 2 for rate in turning] + euler

    with mpmath.workdps(25):
        end = mpmath.odefun(rates, 0, [1, 0, 0, 0, -1, 0, 2], tol=mpmath.mpf(10) ** -20)(1)
        stored = *reference.FREE_Q, *reference.FREE_PI
        assert [float(x) for x in end] == list(stored)


# ---- Fukushima
def test_fukushimas_quadruple_precision_without_a_compiler(monkeypatch):
    from polhode.papers.fukushima1995 import table

    monkeypatch.setattr(table.shutil, "which", lambda name: None)
    ratios, whence = table.quadruple()
    assert ratios == table.STORED
    assert "stored" in whence
    monkeypatch.setattr(table.shutil, "which", lambda name: "/no/such/gcc")
    assert table.quadruple()[0] == table.STORED


def test_fukushimas_errors_are_angles():
    """Of a turn by 1e-5 about an axis of the body: the figure axis moves by its part across."""
    from fractions import Fraction

    from polhode.celestial.model_orbits import orientation_error
    from polhode.papers.fukushima1995.laboratory import errors

    w, x, y, z = 0.5, 0.5, -0.5, 0.5
    a, b, c = 0.36e-5, 0.48e-5, 0.8e-5
    right = (
        w - (x * a + y * b + z * c) / 2,
        x + (w * a + y * c - z * b) / 2,
        y + (w * b + z * a - x * c) / 2,
        z + (w * c + x * b - y * a) / 2,
    )
    exact = tuple(map(Fraction, right))
    assert errors((w, x, y, z), exact) == pytest.approx((1e-5, 0.6e-5), rel=1e-9)
    assert errors((w, x, y, z), exact)[0] == orientation_error((w, x, y, z), exact)
