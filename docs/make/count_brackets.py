"""Count independent brackets of T and V of a rigid body: ``python docs/make/count_brackets.py``.

Functions of the momentum m in body axes and the attitude matrix R are polynomials modulo a prime,
evaluated at random points with R in SO(3).  The number of independent ones is the rank of their
values.  The bracket is

    {m_i, m_k} = Σ_j ε_ijk m_j,    {R_ai, m_k} = Σ_j ε_ijk R_aj                        (1)

so that m' = {m, T} = m x ω and R' = {R, T} = R [ω].
"""

import random
import sys
from itertools import permutations

PRIME = 2**31 - 1
MOMENTUM, ATTITUDE = range(3), [[3 + 3 * a + i for i in range(3)] for a in range(3)]
VARIABLES = 12
Polynomial = dict[tuple[int, ...], int]  # exponents: coefficient
rng = random.Random(1)


def power(*variables: int) -> tuple[int, ...]:
    return tuple(variables.count(v) for v in range(VARIABLES))


def structure() -> dict[tuple[int, int], Polynomial]:
    """Return {x, y} for each pair of variables, (1)."""
    table: dict[tuple[int, int], Polynomial] = {}
    for i, j, k in permutations(range(3)):
        sign = 1 if (j - i) % 3 == 1 else -1
        table[i, k] = {power(j): sign}
        for row in ATTITUDE:
            table[row[i], k] = {power(row[j]): sign}
            table[k, row[i]] = {power(row[j]): -sign}
    return table


BRACKET = structure()


def derivative(f: Polynomial, v: int) -> Polynomial:
    return {(*e[:v], e[v] - 1, *e[v + 1 :]): c * e[v] % PRIME for e, c in f.items() if e[v] % PRIME}


def add_product(total: Polynomial, f: Polynomial, g: Polynomial) -> None:
    for e, c in f.items():
        for d, b in g.items():
            place = tuple(map(sum, zip(e, d, strict=True)))
            total[place] = (total.get(place, 0) + c * b) % PRIME


def bracket(f: Polynomial, g: Polynomial) -> Polynomial:
    df, dg = ([derivative(p, v) for v in range(VARIABLES)] for p in (f, g))
    total: Polynomial = {}
    for (x, y), xy in BRACKET.items():
        if df[x] and dg[y]:
            part: Polynomial = {}
            add_product(part, df[x], dg[y])
            add_product(total, part, xy)
    return {e: c for e, c in total.items() if c}


def point() -> list[int]:
    """Return a random momentum and, from a random quaternion, a rotation matrix modulo PRIME."""
    w, x, y, z = (rng.randrange(PRIME) for _ in range(4))
    scale = pow(w * w + x * x + y * y + z * z, -1, PRIME)
    matrix = (
        *(w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        *(2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        *(2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return [rng.randrange(PRIME) for _ in MOMENTUM] + [e * scale % PRIME for e in matrix]


def value(f: Polynomial, at: list[int]) -> int:
    total = 0
    for e, c in f.items():
        for x, k in zip(at, e, strict=True):
            if k:
                c = c * pow(x, k, PRIME) % PRIME
        total += c
    return total % PRIME


def independent(functions: list[Polynomial], points: list[list[int]]) -> list[Polynomial]:
    """Return the functions that are not sums of earlier ones, by elimination of their values."""
    kept, rows = [], []
    for f in functions:
        row = [value(f, p) for p in points]
        for lead, other in rows:
            factor = row[lead]
            row = [(a - factor * b) % PRIME for a, b in zip(row, other, strict=True)]
        lead = next((i for i, a in enumerate(row) if a), None)
        if lead is not None:
            inverse = pow(row[lead], -1, PRIME)
            rows.append((lead, [a * inverse % PRIME for a in row]))
            kept.append(f)
    return kept


def main() -> None:
    T = {power(i, i): c for i, c in zip(MOMENTUM, (7, 11, 29), strict=True)}
    entries = [v for row in ATTITUDE for v in row]
    V = {power(v): rng.randrange(PRIME) for v in entries}
    V |= {power(*rng.choices(entries, k=2)): rng.randrange(PRIME) for _ in range(3)}
    points = [point() for _ in range(14)]  # more than the expected number of brackets
    thrice = bracket(V, bracket(V, bracket(V, T)))
    assert not any(value(thrice, p) for p in points)
    level = [T, V]
    for n in range(1, 7):
        if n > 1:
            level = independent([bracket(g, f) for f in level for g in (T, V)], points)
        sys.stdout.write(f"{n} letters: {len(level)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
