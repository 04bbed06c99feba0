"""The Bulirsch-Stoer method: Gragg's midpoint rule, extrapolated, with order and step control.

With n_j = 2, 4, 6, … steps of h/n_j of the midpoint rule

    z_1 = y + (h/n) f(t, y),    z_(m+1) = z_(m-1) + (2h/n) f(t + m h/n, z_m)           (1)

the error of z_n has only even powers of h/n, and so

    T_(j,0) = z_(n_j),    T_(j,i) = (1 + w) T_(j,i-1) - w T_(j-1,i-1)                  (2)
    w = 1 / ((n_j/n_(j-i))² - 1)

is of order 2i + 2.  The error is estimated by T_(j,j) - T_(j,j-1).  All sums are of increments; y
itself is added last.  The step ends at the column that is expected to suffice, or one before or
after it; order and size of the next step are those with the least work per unit of time (Hairer,
Nørsett & Wanner I, II.9; Deuflhard 1983).  The carry is the target column and the rounding errors
of the sums.  The first step and dense output, which is a separate step, may end at any column.

The columns are unrolled, the midpoint rule is a loop.
"""

from collections.abc import Callable

from polhode.compiler.machine import combined
from polhode.contracts import Integrator, size, slope
from polhode.integrators._runge_kutta import accumulated, first_guess, gragg, nothing

COLUMNS = 9
STEPS = tuple(2 * (j + 1) for j in range(COLUMNS))  # n_j
WORK = tuple(float(sum(STEPS[: j + 1]) - j) for j in range(COLUMNS))  # evaluations up to column j
ANY, LEAST = 0.0, 3.0  # target columns: of the first step, and the smallest afterwards
SAFETY, AIM, SHORTEST, LONGEST = 0.94, 0.65, 0.02, 5.0
FEWER, MORE = 0.8, 0.9  # relative work at which another column is chosen


def midpoint(n: int) -> Callable:
    """Make the midpoint rule (1): z_n - y."""
    return lambda t, h, y, f, body, params: gragg(n, t, h, y, f, body, params)


def extrapolated(j: int) -> Callable:
    """Make the row T_(j,0) … T_(j,j) of (2), from T_(j,0) and the previous row."""
    weights = [1.0 / ((STEPS[j] / STEPS[j - i]) ** 2 - 1.0) for i in range(1, j + 1)]

    def entry(i: int) -> Callable:
        if i == 0:
            return lambda first, row: (first,)
        before, w, k = entry(i - 1), weights[i - 1], i - 1

        def entries(first, row):
            new = before(first, row)
            return (*new, combined((1.0 + w, -w), (new[k], row[k])))

        return entries

    return entry(j)


def wish(error, j):
    """Return the factor to the step size that suits column j."""
    f = SAFETY * (AIM / (error + 1e-100)) ** (1.0 / (2 * j + 1))
    return min(LONGEST, max(SHORTEST, f))


def ended(j: int) -> Callable:
    """Make the end of a step at column j: (result, error, next column, factor, evaluations)."""
    work, less = WORK[j], WORK[j - 1]
    most = COLUMNS - 2.0
    column = float(j)
    more = WORK[min(j + 1, COLUMNS - 1)]

    def ending(result, error, now, before):
        if column > LEAST and less / before < FEWER * (work / now):  # one column fewer is cheaper
            return result, error, column - 1.0, before, work
        if error <= 1.0 and column < most and work / now < MORE * (less / before):
            return result, error, column + 1.0, now * (more / work), work
        return result, error, min(max(column, LEAST), most), now, work

    return ending


def columns_from(j: int) -> Callable:
    """Make column j and those that follow, unrolled; ``row`` is that of column j - 1."""
    rule, table = midpoint(STEPS[j]), extrapolated(j)
    ending = ended(j)
    column, last = float(j), j == COLUMNS - 1
    hopeless0 = (STEPS[min(j + 2, COLUMNS - 1)] * STEPS[min(j + 1, COLUMNS - 1)] / 4.0) ** 2
    hopeless1 = (STEPS[min(j + 1, COLUMNS - 1)] / 2.0) ** 2
    diagonal, beside = j, j - 1
    following = beyond if last else columns_from(j + 1)

    def columns(t, h, y, f, row, target, before, body, params, tolerances):
        new = table(rule(t, h, y, f, body, params), row)
        off = combined((1.0, -1.0), (new[diagonal], new[beside]))
        after = combined((1.0, 1.0), (y, new[diagonal]))
        error = size(off, y, after, body, tolerances)
        now = wish(error, column)
        late = last or (target != ANY and column >= target + 1.0)
        good = error <= 1.0 and column >= max(target, LEAST) - 1.0
        poor = (column == target - 1.0 and error > hopeless0) or (
            column == target and error > hopeless1
        )
        if good or late or poor or not error <= 1e200:
            return ending(new[diagonal], error, now, before)
        return following(t, h, y, f, new, target, now, body, params, tolerances)

    return columns


def beyond(t, h, y, f, row, target, before, body, params, tolerances):
    """Stand in for what follows the last column; never called."""
    return y, 2.0, target, 0.5, 0.0


_RULE0, _ALL = midpoint(STEPS[0]), columns_from(1)


def start(t, h, y, body, params):
    return ANY, nothing(y)


def trial(t, h, state, carry, body, params, tolerances):
    target, low = carry
    f = slope(t, state, body, params)
    row = (_RULE0(t, h, state, f, body, params),)
    change, error, column, factor, work = _ALL(
        t, h, state, f, row, target, 1.0, body, params, tolerances
    )
    new, lost = accumulated(state, low, 1.0, change)
    if error <= 1.0:
        return new, (column, lost), error, factor, int(work)
    return new, (target, low), error, min(factor, 0.7), int(work)


PLACE = 50
INTEGRATOR = Integrator(
    name="bulirsch-stoer",
    title="Bulirsch-Stoer, order and step controlled",
    order=2 * COLUMNS,
    dense_order=2 * COLUMNS,
    tightest=1e-15,
    references=("hairer1993", "deuflhard1983"),
    start=start,
    trial=trial,
    first_step=first_guess(8),
)
