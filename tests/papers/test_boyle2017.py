"""Costs at equal errors: what the efficiency claims of Boyle (2017) are judged by."""

import numpy as np
import pytest

from polhode.papers.boyle2017.courses import Course, errors_between, in_words
from polhode.papers.boyle2017.laboratory import BS, DP, ROTOR, TWO, Run, Study
from polhode.papers.verdicts import Untestable


def curve(costs, errors):
    """Runs with given evaluations and largest errors; half as many steps."""
    return [
        Run(np.zeros(cost // 2 + 1), np.zeros((1, 4)), np.array([error]), 0, cost, 1.0)
        for cost, error in zip(costs, errors, strict=True)
    ]


ERRORS = 1e-2, 1e-4, 1e-6, 1e-8
STUDY = Study(
    ERRORS,
    {
        (DP, ROTOR): curve((100, 200, 400, 800), ERRORS),
        (DP, TWO): curve((200, 400, 800, 400), (3e-2, 1e-4, 1e-6, 1e-7)),
        (BS, ROTOR): curve((400, 400, 400, 400), (1e-3, 1e-4, 1e-6, 1e-9)),
    },
)


def test_the_whole_range_is_what_all_curves_reach_with_both_ends():
    errors = STUDY.whole((DP, ROTOR), (DP, TWO))
    assert errors[0] == pytest.approx(1e-2)
    assert errors[-1] == pytest.approx(1e-7)
    assert len(errors) == 21
    assert in_words(errors) == "1e-02 … 1e-07"
    assert len(errors_between(1.0, 0.9)) == 2


def test_ratios_turn_where_curves_cross():
    course = STUDY.ratio(DP, TWO)
    at = dict(zip(np.round(np.log10(course.errors), 2), course.ratios, strict=True))
    assert at[-4.0] == pytest.approx(2.0)
    assert at[-6.0] == pytest.approx(2.0)
    assert at[-7.0] == pytest.approx(400 / (400 * 2**0.5))
    assert [round(np.log10(x), 2) for part in course.below for x in part] == [-6.75, -7.0]
    assert str(course).endswith("(below 1 at 2e-07 … 1e-07)")
    assert course.share_above == pytest.approx(19 / 21)
    assert STUDY.ratio(DP, TWO, "steps").ratios == pytest.approx(course.ratios)


def test_integrators_are_compared_where_both_reach():
    course = STUDY.bs_to_dp(ROTOR)
    assert in_words(course.errors) == "1e-03 … 1e-08"
    assert course.ratios[0] == pytest.approx(4 / 2**0.5)
    assert course.least == pytest.approx(0.5)
    assert course.down_to(0.9e-5).least == pytest.approx(2**0.5)
    with pytest.raises(Untestable, match="no errors around 1e-09"):
        STUDY.cost(DP, ROTOR, 1e-9)


def test_a_course_in_words():
    errors = np.array([1e-1, 1e-2, 1e-3, 1e-4, 1e-5])
    course = Course(errors, np.array([0.5, 2.0, 0.9, 0.8, 2.0]))
    assert str(course) == "0.50 to 2.00 (below 1 at 1e-01, 1e-03 … 1e-04)"
    assert str(Course(errors, np.full(5, 0.5))) == "0.50 to 0.50"
    assert (course / course).mean == 1.0
    assert course.most == 2.0
    assert Course(errors, np.array([1.0, 2, 4, 8, 16])).mean == pytest.approx(4.0)


def test_low_order_is_judged_by_its_errors(monkeypatch):
    """Methods of low order that are as good would turn the verdict."""
    from types import SimpleNamespace

    from polhode.papers.boyle2017 import examples
    from polhode.papers.verdicts import FAILS, HOLDS

    run = SimpleNamespace(evaluations=400, worst=1e-9)
    lab = SimpleNamespace(span=lambda problem: 1.0, integrate=lambda *case: run)
    for error, verdict in ((1e-5, HOLDS), (1e-7, FAILS)):
        monkeypatch.setattr(examples, "_error_of_steps", lambda *case, e=error: e)
        assert examples.low_order(lab)[0] == verdict


def test_steps_of_low_order():
    """Their errors fall as the powers of the step that they stand for."""
    from polhode.papers.boyle2017 import examples

    for step, order in ((examples._kutta_step, 4), (examples._midpoint_step, 2)):
        coarse, fine = (examples._error_of_steps(step, 2.0, count) for count in (80, 160))
        assert 0.8 * 2**order < coarse / fine < 1.2 * 2**order
