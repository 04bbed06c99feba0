"""Every claim of every paper: the verdict of the quick reproduction is the expected one."""

import math
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import polhode.papers
from polhode.papers import PAPERS, verdicts
from polhode.papers.claims import Claim, Report, measurements, statements_of
from polhode.papers.verdicts import (
    ADDED,
    CORRECTED,
    FAILS,
    HOLDS,
    VERDICTS,
    Measured,
    Untestable,
    judge,
)

DOCS = Path(__file__).parents[2] / "docs" / "papers"
SOURCE = Path(polhode.papers.__file__).parent
RANGE = r"; judged: \S|at equal errors|over the whole range"  # over which a row was judged
CASES = [(paper.name, s.name) for paper in PAPERS.values() for s in paper.statements]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The quick reproduction of a paper, run once, and its progress messages."""
    made = {}

    def report(name):
        if name not in made:
            made[name] = "it raised an exception before"  # and is not run again
            messages = []
            out = tmp_path_factory.mktemp(name) / "not" / "there yet"
            made[name] = PAPERS[name].reproduce(True, out, messages.append), messages
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
    if claim.timed:
        assert "[holds: " in claim.measured, "what decides is said, and is not a time"
        assert re.search(r"times?\b", claim.measured), "times are shown"


@pytest.mark.parametrize("paper", PAPERS)
def test_report(reports, paper):
    report, messages = reports(paper)
    assert report.ok
    assert [c.name for c in report.claims] == [s.name for s in PAPERS[paper].statements]
    assert all(isinstance(line, str) and line for line in messages)
    assert len(messages) >= len(report.claims)
    assert len(report.figures) == PAPERS[paper].figures
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


@pytest.mark.parametrize("paper", PAPERS)
def test_rows_can_be_checked_with_the_paper_in_hand(paper):
    """They quote its words, and say over which range and with which bound they were judged."""
    statements = PAPERS[paper].statements
    assert len({s.statement for s in statements}) == len(statements)
    for s in statements:
        quoted = re.findall("“([^”]*)”", s.statement)
        assert re.search("[a-z]{3}", " ".join(quoted)), s.name
        assert s.statement.count("“") == s.statement.count("”") == len(quoted), s.name
        assert s.timed or re.search(RANGE, s.words), s.name


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_docs_have_every_claim(paper):
    """The table of the docs has every statement, in order, with its verdict and note."""
    text = (DOCS / f"{paper.name}.md").read_text(encoding="utf-8")
    rows = [line.replace("\\|", "¦").split("|") for line in text.splitlines() if line[:1] == "|"]
    cells = [[cell.strip().replace("¦", "|") for cell in row] for row in rows if len(row) == 7]
    found = {row[2]: (row[1], row[3], row[5].replace("**", "")) for row in cells}
    for s in paper.statements:
        verdict = f"{s.expected}: {s.note}" if s.note else s.expected
        assert found[s.statement] == (s.section, s.claimed, verdict)
    assert [name for name in found if name in {s.statement for s in paper.statements}] == [
        s.statement for s in paper.statements
    ]


def test_ok_needs_every_claim_as_expected():
    good = Claim("1", "a", "b", "measured 1", HOLDS, name="good", expected=HOLDS)
    changed = Claim("1", "a", "b", "measured 2", HOLDS, name="changed", expected=FAILS)
    untested = Claim("1", "a", "b", "", HOLDS, name="untested", expected=HOLDS)
    slower = Claim("1", "a", "b", "3 times", FAILS, name="slower", expected=HOLDS, timed=True)
    assert Report((good,), ()).ok
    assert not Report((good, slower), ()).ok, "times are no excuse: no verdict rests on them"
    assert not Report((good, changed), ()).ok
    assert not Report((good, untested), ()).ok
    assert not Report((), ()).ok


def test_verdicts():
    assert judge(True) == judge(True, True) == HOLDS
    assert judge(False, True) == CORRECTED
    assert judge(False) == FAILS


@pytest.mark.parametrize(
    ("bound", "values", "verdict"),
    [
        (lambda *x: verdicts.below(1, *x), (0.1, 0.9), HOLDS),
        (lambda *x: verdicts.below(1, *x), (0.1, 1.1), FAILS),
        (lambda *x: verdicts.above(1, *x), (1.1, 2), HOLDS),
        (lambda *x: verdicts.above(1, *x), (0.9, 2), FAILS),
        (lambda *x: verdicts.between(1, 3, *x), (1.1, 2.9), HOLDS),
        (lambda *x: verdicts.between(1, 3, *x), (1, 2), FAILS),
        (lambda *x: verdicts.between(1, 3, *x), (2, 3), FAILS),
        (lambda *x: verdicts.of_order(2, *x), (1.9, 2.1), HOLDS),
        (lambda *x: verdicts.of_order(2, *x), (1.9, 2.2), FAILS),
        (lambda *x: verdicts.of_order(2, *x, band=0.3), (1.9, 2.2), HOLDS),
    ],
)
def test_judges(bound, values, verdict):
    """All values count, and all are returned, in order."""
    assert bound(*values) == (verdict, values)
    assert bound(*reversed(values)) == (verdict, values[::-1])


def test_any_condition():
    assert verdicts.holds_if(True, 1, "two") == (HOLDS, (1, "two"))
    assert verdicts.holds_if(False, corrected=True) == (CORRECTED, ())
    assert verdicts.holds_if(np.bool_(False), 1) == (FAILS, (1,))
    assert verdicts.added_if(np.bool_(True), 1, "two") == (ADDED, (1, "two"))
    assert verdicts.added_if(False) == (FAILS, ())


# ---- tables of claims
HEAD = (
    "| name | § | statement | claimed | measured | verdict | note |\n"
    "| --- | --- | --- | --- | --- | --- | --- |\n"
)


def test_a_claim_that_cannot_be_tested():
    def stops(laboratory):
        raise Untestable(f"{laboratory} stopped")

    row = "| stops | 1 | it runs | runs | ran {} s | holds | |\n"
    (statement,) = statements_of(HEAD + row, {"stops": stops})
    claim = statement.measure("the method")
    assert (claim.verdict, claim.measured, claim.note) == ("not tested", "", "the method stopped")
    assert not Report((claim,), ()).ok


def test_rows():
    row = (
        r"| time | 1, 2 | the norm \|x\| of a | 1 \| 2 | \|x\| is {1:.1f}, {0} |"
        r" does not hold, timed | see \|y\| |"
    )
    (statement,) = statements_of(HEAD + row, {"time": lambda _: (HOLDS, ("no more", 1.23))})
    assert (statement.name, statement.section, statement.timed) == ("time", "1, 2", True)
    assert (statement.statement, statement.claimed) == ("the norm |x| of a", "1 | 2")
    assert (statement.expected, statement.note) == (FAILS, "see |y|")
    claim = statement.measure(None)
    assert (claim.measured, claim.verdict) == ("|x| is 1.2, no more", HOLDS)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("| a | 1 | it | is | so | holds | |\n" * 2, "'a': the name is used twice"),
        ("| a | 1 | it | is | so | perhaps | |\n", "'perhaps' must be one of"),
        (
            "| a | 1 | it | is | so | holds | |\n| c | 1 | it | is | so | holds | |",
            "'c': no function",
        ),
        ("| a | 1 | it | is | so | holds |\n", "must have the cells"),
        ("", "without a row in the table of claims: a"),
    ],
)
def test_faulty_tables_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        statements_of(HEAD + rows, {"a": lambda _: (HOLDS, ())})


def test_measurements_of_a_module():
    """Entries of MEASUREMENTS and functions that return Measured; imported ones do not count."""
    module, other = ModuleType("one"), ModuleType("two")
    code = "def {}(lab) -> Measured:\n    return 'holds', ()\n"
    for place, names in ((module, ("first_row", "complex_", "_private")), (other, ("second",))):
        vars(place)["Measured"] = Measured
        for name in names:
            exec(code.format(name), vars(place))
    module.second = other.second
    module.MEASUREMENTS = {"third": lambda _: (HOLDS, ())}
    assert set(measurements([module])) == {"first-row", "complex", "third"}
    other.MEASUREMENTS = {"third": lambda _: (HOLDS, ())}
    with pytest.raises(ValueError, match="two measures again: third"):
        measurements([module, other])


def test_the_registry_finds_its_papers():
    """Every package with a table of claims, in the order of their places."""
    assert set(PAPERS) == {path.parent.name for path in SOURCE.glob("*/claims.md")}
    places = [getattr(polhode.papers, name).PLACE for name in PAPERS]
    assert places == sorted(places)


def test_a_bar_does_not_end_a_cell():
    claim = Claim("1", "|x|", "0", "|x| = 1", FAILS, note="why")
    assert Report((claim,), ()).markdown().splitlines()[-1] == (
        r"| 1 | \|x\| | 0 | \|x\| = 1 | **does not hold**: why |"
    )


# ---- Krysl
def test_krysls_nearby_runs():
    """Ranges over the runs from nearby starts; those that part, part for good."""
    from polhode.papers.krysl2006.laboratory import PARTED, Nearby

    values = np.array([[1.0, 1.1, 0.8], [1.0, 0.9, 1.3]])
    apart = np.array([[0.0, 0.5, 0.5], [0.0, PARTED / 2, PARTED / 2]])
    found = Nearby(values, apart, -0.5)
    assert found.extremes == pytest.approx([0.2, 0.3])
    assert found.rms == pytest.approx([np.sqrt(0.05 / 3), np.sqrt(0.1 / 3)])
    assert found.parted_after == [1]


# ---- Celledoni & Säfström
def test_celledonis_figure_says_where_an_error_of_zero_is_drawn():
    """A logarithmic axis cannot show it: the legend of its curve says so, and no other does."""
    from polhode.papers.celledoni2006 import figures
    from polhode.papers.celledoni2006.laboratory import EXAMPLES, Study

    names, quantities = figures.WORK["euler"]
    steps = np.array([0.25, 0.125])
    errors = dict.fromkeys(names, steps**4) | {"je": 0 * steps, "dmv6": np.array([1e-9, 0.0])}
    work, times = dict.fromkeys(names, np.ones(2)), dict.fromkeys(names, np.ones((1, 2)))
    study = Study(steps, {"π": errors}, work, times, {})
    picture = figures._work(EXAMPLES["euler"].title, study, names, quantities)
    (ax,) = picture.axes
    drawn = {line.get_label().split("\n")[0]: line for line in ax.lines}
    assert drawn["JE"].get_ydata().tolist() == [1e-16, 1e-16]
    assert "every error is 0" in drawn["JE"].get_label()
    assert "1 of 2 errors is 0" in drawn["DMV6"].get_label()
    others = [line.get_label() for name, line in drawn.items() if name not in ("JE", "DMV6")]
    assert not any("1e-16" in text for text in others)


def test_celledonis_free_body_to_twenty_digits():
    """The literals of the reference, computed again with mpmath's Taylor series."""
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


# ---- work and times
def test_operations_are_counted():
    """Sums, products, quotients, roots and fused ones, in functions of the library, too."""
    from polhode.compiler.machine import fma
    from polhode.papers.counted import FUNCTION, SLOW, Counted, counted, counting, tally, work_of

    def formula(x, y):
        a, b = x
        return fma(a, b, -y) + math.sqrt(2.0 * a) / (1.0 - abs(b)) + math.atan2(a, y)

    before = tally.operations, tally.slow
    found = counting(formula)(counted((2.0, 0.5)), Counted(3.0))
    assert found == formula((2.0, 0.5), 3.0)
    assert tally.operations - before[0] == 7 + FUNCTION
    assert tally.slow - before[1] == 2
    assert work_of(lambda: 1.0 / Counted(3.0)) == SLOW
    assert work_of(lambda: 1.0 / 3.0) == 0


def test_a_count_is_that_of_the_polynomials():
    """The operations of ``sincos1``, counted by hand in its source."""
    from polhode.kernels.trig import sincos1
    from polhode.papers.counted import Counted, counting, work_of

    reduction, powers, polynomials, ends = 4, 3, 14 + 3, 2
    sine = counting(sincos1)
    assert work_of(lambda: sine(Counted(0.7))) == reduction + powers + polynomials + ends + 2


def test_times_have_a_range():
    from polhode.papers import timing

    rows = np.array([[3.0, 6.0], [1.0, 9.0], [2.0, 4.0], [5.0, 8.0], [4.0, 7.0]])
    assert timing.least(rows).tolist() == [[1, 6], [2, 4], [5, 8], [4, 7]]
    assert timing.ranged([1.234, 1.1]) == "1.10 to 1.23"
    assert timing.ranged([1.234, 1.233]) == "1.23"
    calls = []
    times = timing.take_turns({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 5)
    assert calls == ["a", "b"] * 6
    assert {name: taken.shape for name, taken in times.items()} == {"a": (4,), "b": (4,)}


def random_times(calls, rounds):
    """Times that say nothing, as on a machine with other things to do."""
    rng = np.random.default_rng(7)
    return {key: rng.uniform(1.0, 20.0, size=4) for key in calls}


def test_no_load_turns_a_verdict_of_celledoni(monkeypatch):
    from polhode.papers.celledoni2006 import laboratory

    monkeypatch.setattr(laboratory, "take_turns", random_times)
    lab = laboratory.Laboratory(True, lambda line: None)
    timed = [s for s in PAPERS["celledoni2006"].statements if s.timed]
    assert len(timed) > 10
    for statement in timed:
        claim = statement.measure(lab)
        assert claim.as_expected, (claim.name, claim.measured)


def test_no_load_turns_a_verdict_of_boyle():
    """Seconds that say nothing, beside the work of the runs."""
    from polhode.papers.boyle2017.laboratory import BS

    rng = np.random.default_rng(8)

    def numbers(integrator, name, of):
        right = 400.0 if integrator == BS else 300.0
        return rng.uniform(1.0, 20.0, size=3) if "seconds" in of else np.full(3, right)

    study = SimpleNamespace(numbers=numbers, costs=lambda i, name, errors, of: numbers(i, name, of))
    lab = SimpleNamespace(study=study, errors=(1, 2, 3), error_range="any", form="plain")
    statements = {s.name: s for s in PAPERS["boyle2017"].statements}
    for name in ("b-s-slower", "counts-are-times"):
        assert statements[name].timed
        assert statements[name].measure(lab).as_expected


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_no_module_of_a_paper_has_a_clock_of_its_own(paper):
    """Times come from ``timing``, or are the seconds of a run."""
    for path in (SOURCE / paper.name).glob("*.py"):
        assert "perf_counter" not in path.read_text(encoding="utf-8")


# ---- Fukushima
def test_fukushimas_table_without_a_compiler(monkeypatch):
    from polhode.papers.fukushima1995 import table

    monkeypatch.setattr(table.shutil, "which", lambda name: "/no/such/gcc")
    times, whence = table.clocks.__wrapped__()
    assert times["double"].tolist() == [[list(pair) for pair in table.STORED["double"]]]
    assert times["quadruple"].shape == times["double"].shape
    assert "stored" in whence


def test_fukushimas_errors_are_angles():
    """For a rotation by 1e-5 about an oblique axis, the figure axis moves by the part across it."""
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
