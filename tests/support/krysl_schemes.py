"""An independent version of Krysl 2006: 3×3 matrices in mpmath numbers, solved by ``findroot``.

Written from the paper with its misprints put right, and from nothing in the library but the
coefficients of the tableaus.  Each function is ``step(world, t, h, r, p)`` with the attitude matrix
r and the body momentum p, and returns both after the step.  The torque is in body axes.

Keywords switch to the misprints, so that a test can show that it would notice them.
"""

import itertools
from dataclasses import dataclass, field
from functools import partial

import mpmath as mp

from polhode import COMPOSITIONS, TABLEAUS

DIGITS = 40


@dataclass(frozen=True)
class World:
    """A body, and its torque as a function of t, the attitude matrix and omega."""

    inertia: tuple
    torque_of_omega: object
    inverse: mp.matrix = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "inverse", mp.diag([1 / mp.mpf(i) for i in self.inertia]))

    def torque(self, t, r, p):
        return mp.matrix(self.torque_of_omega(t, r, self.inverse * p, cos=mp.cos))


# ---- rotations
def skew(v):
    return mp.matrix([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def exp(v):
    """Rodrigues' formula."""
    a, k = mp.norm(v), skew(v)
    return mp.eye(3) + mp.sinc(a) * k + mp.sinc(a / 2) ** 2 / 2 * k * k


def cay(v):
    k = skew(v) / 2
    return (mp.eye(3) - k) ** -1 * (mp.eye(3) + k)


def dexpinv(v, w):
    """(d exp_v)^-1 w, with the matrix (9) of the paper."""
    a, k = mp.norm(v), skew(v)
    if a == 0:
        return w
    dexp = mp.eye(3) + (1 - mp.cos(a)) / a**2 * k + (1 - mp.sinc(a)) / a**2 * k * k
    return mp.lu_solve(dexp, w)


def root(function, first):
    """The root near ``first`` of a function of 3-vectors, as many as ``first`` has."""

    def flat(*numbers):
        vectors = [mp.matrix(numbers[i : i + 3]) for i in range(0, len(numbers), 3)]
        return [x for vector in function(*vectors) for x in vector]

    tolerance = mp.mpf(10) ** (-1.8 * mp.mp.dps)  # of the square
    found = mp.findroot(flat, [x for v in first for x in v], tol=tolerance, maxsteps=30)
    return [mp.matrix(found[i : i + 3]) for i in range(0, len(found), 3)]


# ---- Euler's two methods, (11), (12), (18), (19)
def rate(world, t, r, p):
    return world.torque(t, r, p) - skew(world.inverse * p) * p


def forward_euler(world, t, h, r, p):
    return r * exp(h * world.inverse * p), p + h * rate(world, t, r, p)


def backward_euler(world, t, h, r, p):
    def turned(new):
        return r * exp(h * world.inverse * new)

    (new,) = root(lambda x: [x - p - h * rate(world, t + h, turned(x), x)], [p])
    return turned(new), new


def forward_euler_m(world, t, h, r, p):
    psi = h * world.inverse * p
    return r * exp(psi), exp(-psi) * (p + h * world.torque(t, r, p))


def backward_euler_m(world, t, h, r, p):
    def turned(new):
        return r * exp(h * world.inverse * new)

    def residual(new):
        psi = h * world.inverse * new
        end = world.torque(t + h, turned(new), new)
        return [new - exp(-psi) * (p + h * exp(psi) * end)]

    (new,) = root(residual, [p])
    return turned(new), new


# ---- the paper's four algorithms; ``late``: the torque of the midpoint at t_n + h/2, as printed
def trap(world, t, h, r, p, swapped=False):
    def turned(new):
        a, b = exp(h / 2 * world.inverse * p), exp(h / 2 * world.inverse * new)
        return r * b * a if swapped else r * a * b

    first = rate(world, t, r, p)
    (new,) = root(lambda x: [x - p - h / 2 * (first + rate(world, t + h, turned(x), x))], [p])
    return turned(new), new


def imid(world, t, h, r, p, late=False):
    time = t + h + h / 2 if late else t + h / 2

    def middle(mean):
        return rate(world, time, r * exp(h / 2 * world.inverse * mean), mean)

    (mean,) = root(lambda x: [x - p - h / 2 * middle(x)], [p])
    return r * exp(h * world.inverse * mean), p + h * middle(mean)


def trapm(world, t, h, r, p, swapped=False):
    def turned(new):
        a, b = exp(h / 2 * world.inverse * p), exp(h / 2 * world.inverse * new)
        return r * b * a if swapped else r * a * b

    def residual(new):
        end = turned(new)
        kicked = p + h / 2 * world.torque(t, r, p)
        return [new - end.T * r * kicked - h / 2 * world.torque(t + h, end, new)]

    (new,) = root(residual, [p])
    return turned(new), new


def imidm(world, t, h, r, p, late=False):
    time = t + h + h / 2 if late else t + h / 2

    def middle(psi):
        mean = world.inverse**-1 * psi / h  # the momentum that the equation for psi equates
        return world.torque(time, r * exp(psi / 2), mean)

    def residual(psi):
        return [psi - h * world.inverse * (exp(-psi / 2) * p + h / 2 * middle(psi))]

    (psi,) = root(residual, [h * world.inverse * p])
    return r * exp(psi), exp(-psi) * p + h * exp(-psi / 2) * middle(psi)


# ---- those it compares with
def swc1(world, t, h, r, p, late=False):
    time = t + h + h / 2 if late else t + h / 2

    def landed(new):
        psi = h / 2 * (world.inverse * new + world.inverse * p)
        middle = world.torque(time, r * exp(psi / 2), (new + p) / 2)
        return r * exp(psi), exp(-psi) * p + h * exp(-psi / 2) * middle

    (new,) = root(lambda x: [x - landed(x)[1]], [p])
    return landed(new)


def akw(world, t, h, r, p):
    def landed(new):
        mean = (new + p) / 2
        w = world.inverse * mean
        end = r * cay(h * w)
        torques = world.torque(t, r, p) + world.torque(t + h, end, new)
        return end, p - h * skew(w) * mean + h / 2 * torques

    (new,) = root(lambda x: [x - landed(x)[1]], [p])
    return landed(new)


def bbtrap(world, t, h, r, p, truncated=True, sign=-1):
    def landed(psi, new):
        end = r * exp(psi)
        kicked = p + h / 2 * world.torque(t, r, p)
        return end, exp(-psi) * kicked + h / 2 * world.torque(t + h, end, new)

    def residual(psi, new):
        w = world.inverse * new
        turning = w if truncated else dexpinv(sign * psi, w)
        return [psi - h / 2 * (turning + world.inverse * p), new - landed(psi, new)[1]]

    return landed(*root(residual, [h * world.inverse * p, p]))


bbtrapwd = partial(bbtrap, truncated=False)


# ---- MKRK; ``own``: the sum of the torques with T_(k), as printed, for T_(j)
def mkrk(world, t, h, r, p, tableau, sign=-1, own=False):
    a, b, c = tableau.converted(number)
    stages = range(len(b))

    def stage(j, psi, momentum):
        """(velocity, rotation, torque) of stage j."""
        turn = exp(psi)
        velocity = dexpinv(sign * psi, world.inverse * momentum)
        return velocity, turn, world.torque(t + c[j] * h, r * turn, momentum)

    def sums(weights, done, torque=None):
        """psi and the sum of the turned torques."""
        psi, kick = mp.zeros(3, 1), mp.zeros(3, 1)
        for weight, (velocity, turn, n) in zip(weights, done, strict=False):
            psi += h * weight * velocity
            kick += h * weight * turn * (n if torque is None else torque)
        return psi, kick

    if tableau.explicit:
        done = []
        for k in stages:
            psi, kick = sums(a[k], done)
            if own:
                _, kick = sums(a[k], done, world.torque(t + c[k] * h, r * exp(psi), p))
            done.append(stage(k, psi, exp(-psi) * (p + kick)))
    else:

        def residual(*unknown):
            psis, momenta = unknown[: len(b)], unknown[len(b) :]
            done = [stage(j, psis[j], momenta[j]) for j in stages]
            found = [sums(a[k], done, done[k][2] if own else None) for k in stages]
            turns = [psis[k] - found[k][0] for k in stages]
            kicks = [momenta[k] - exp(-psis[k]) * (p + found[k][1]) for k in stages]
            return [*turns, *kicks]

        solved = root(residual, [*(c[k] * h * world.inverse * p for k in stages), *([p] * len(b))])
        done = [stage(j, solved[j], solved[len(b) + j]) for j in stages]
    psi, kick = sums(b, done)
    return r * exp(psi), exp(-psi) * (p + kick)


# ---- splitting about the axes
def mr2(world, t, h, r, p):
    p = p + h / 2 * world.torque(t, r, p)
    for axis, part in ((0, 2), (1, 2), (2, 1), (1, 2), (0, 2)):
        psi = mp.zeros(3, 1)
        psi[axis] = h / part * p[axis] / world.inertia[axis]
        r, p = r * exp(psi), exp(-psi) * p
    return r, p + h / 2 * world.torque(t + h, r, p)


def mr4(world, t, h, r, p):
    w = 1 / (2 - mp.cbrt(2))
    for begin, weight in ((0, w), (w, 1 - 2 * w), (1 - w, w)):
        r, p = mr2(world, t + begin * h, weight * h, r, p)
    return r, p


# ---- kicks around the free motion, by Taylor series
PIECE = 0.1  # of time: a small part of the radius of convergence


def free(world, h, r, p):
    pieces = int(mp.ceil(abs(h) / PIECE))
    for _ in range(pieces):
        r, p = series(world, h / pieces, r, p)
    return r, p


def series(world, h, r, m):
    """R' = R [w]x, m' = m x w, w = I^-1 m: each term is made of products of the earlier ones."""
    rs, ms, ws = [r], [m], []  # coefficients of R, m and [w]x, times powers of h
    while len(ms) < 3 or max(map(mp.mnorm, (*rs[-2:], *ms[-2:]))) > mp.eps / 1000:
        ws.append(skew(world.inverse * ms[-1]))
        k, back = len(ws), ws[::-1]
        rs.append(sum((a * w for a, w in zip(rs, back, strict=True)), mp.zeros(3)) * h / k)
        ms.append(sum((w * a for a, w in zip(ms, back, strict=True)), mp.zeros(3, 1)) * -h / k)
    return sum(rs[1:], rs[0]), sum(ms[1:], ms[0])


def strang(world, t, h, r, p):
    r, p = free(world, h, r, p + h / 2 * world.torque(t, r, p))
    return r, p + h / 2 * world.torque(t + h, r, p)


def strang_composed(world, t, h, r, p, composition):
    for weight in map(number, composition.weights):
        r, p = strang(world, t, weight * h, r, p)
        t += weight * h
    return r, p


def splitting(world, t, h, r, p, letters):
    """A word of drifts A and kicks B, each with its fraction of h."""
    for letter, fraction in letters:
        if letter == "A":
            r, p = free(world, fraction * h, r, p)
            t += fraction * h
        else:
            p = p + fraction * h * world.torque(t, r, p)
    return r, p


def mirrored(first, outer, inner):
    """The symmetric word of the letter ``first``, with the ``outer`` coefficients, and the other.

    The last given coefficient, and the one that stands alone in the middle, follow from the sums.
    """
    names = first + ("B" if first == "A" else "A")
    half = [x for pair in itertools.zip_longest(outer, inner) for x in pair if x is not None]
    word = [(names[i % 2], mp.mpf(x)) for i, x in enumerate(half)]
    last, middle = word[-1][0], names[len(word) % 2]
    word[-1] = last, mp.mpf(1) / 2 - sum(x for name, x in word[:-1] if name == last)
    centre = 1 - 2 * sum(x for name, x in word if name == middle)
    return [*word, (middle, centre), *word[::-1]]


def srkn14(world, t, h, r, p):
    """Blanes & Moan 2002, table 3: the 15 digits that it prints, the last ones rounded."""
    a = """0.0378593198406116 0.102635633102435 -0.0258678882665587 0.314241403071447
           -0.130144459517415 0.106417700369543 -0.00879424312851058"""
    b = """0.09171915262446165 0.183983170005006 -0.05653436583288827 0.004914688774712854
           0.143761127168358 0.328567693746804 0"""
    return splitting(world, t, h, r, p, mirrored("A", a.split(), b.split()))


def srkn19(world, t, h, r, p):
    """Blanes, Casas & Escorihuela-Tomàs 2022, A19: the digits that it prints."""
    a = """0.0505805 0.149999 -0.0551795510771615573511026950361 0.423755898835337951482264998051
           -0.213495353584659048059672194633 -0.0680769774574032619111630736274
           0.227917056974013435948887201671 -0.235373619381058906524740047732
           0.387413869179878047816794031058 0"""
    b = """0.129478606560536730662493794395 0.222257260092671143423043559581
           -0.0577514893325147204757023246320 -0.0578312262103924910221345032763
           0.103087297437175356747933252265 -0.140819612554090768205554103887
           0.0234462603492826276699713718626 0.134854517356684096617882205068
           0.0287973821073779306345172160211"""
    return splitting(world, t, h, r, p, mirrored("A", a.split(), b.split()))


def aba1064(world, t, h, r, p):
    """Blanes et al. 2013, table 3."""
    a = """0.03809449742241219545697532230863756534060 0.1452987161169137492940200726606637497442
           0.2076276957255412507162056113249882065158 0.4359097036515261592231548624010651844006"""
    b = """0.09585888083707521061077150377145884776921 0.2044461531429987806805077839164344779763
           0.2170703479789911017143385924306336714532 0"""
    return splitting(world, t, h, r, p, mirrored("A", a.split(), b.split()))


INNER_NODES = -0.77, -0.29, 0.29, 0.77


def sbab5(world, t, h, r, p):
    """Kicks at Lobatto's nodes, the zeros of x (1 - x) P'_5(2x - 1), with their weights."""
    inner = [mp.findroot(partial(mp.diff, partial(mp.legendre, 5)), x) for x in INNER_NODES]
    nodes = [mp.mpf(-1), *inner, mp.mpf(1)]
    word, before = [], mp.mpf(-1)
    for x in nodes:
        word += [("A", (x - before) / 2), ("B", 1 / (30 * mp.legendre(5, x) ** 2))]
        before = x
    return splitting(world, t, h, r, p, word)


# ---- the momentum of the free motion, and the attitude by what it is between the ends
def je(world, t, h, r, p):
    _, end = free(world, h, r, p)
    return r * exp(h / 2 * world.inverse * (p + end)), end


def magnus(world, h, r, p, fourth, swapped=False, sign=1):
    """``swapped``: the nodes exchanged, as the paper's ± has them; ``sign``: that of space axes."""
    _, end = free(world, h, r, p)
    shift = mp.sqrt(3) / 6 if fourth else mp.mpf(0)
    nodes = (mp.mpf(1) / 2 - shift, mp.mpf(1) / 2 + shift)
    w = [skew(world.inverse * free(world, node * h, r, p)[1]) for node in nodes]
    first, second = reversed(w) if swapped else w
    bracket = first * second - second * first
    a = h / 2 * (first + second) + sign * shift / 2 * h**2 * bracket
    return r * mp.expm(a), end


def sej(world, t, h, r, p, fourth, **variant):
    r, p = magnus(world, h, r, p + h / 2 * world.torque(t, r, p), fourth, **variant)
    return r, p + h / 2 * world.torque(t + h, r, p)


# ---- Moser and Veselov's factorization, without torque; the scales with moments, as published
def dmv(world, t, h, r, p, terms=0):
    i1, i2, i3 = world.inertia
    det, whole = i1 * i2 * i3, i1 + i2 + i3
    spread = mp.diag([mp.mpf(whole) / 2 - i for i in world.inertia])  # the Σ mass x xᵀ of the body
    energy, half = (p.T * world.inverse * p)[0] / 2, (p.T * p)[0] / 2
    one, two = (sum(1 / mp.mpf(i) ** k for i in world.inertia) for k in (1, 2))
    ratios = mp.mpf(i1 + i2) / i3 + mp.mpf(i2 + i3) / i1 + mp.mpf(i3 + i1) / i2
    t3 = energy * one / 3 - half * whole / (6 * det)
    t5 = (
        (3 * two / 10 + mp.mpf(9) / 20 * whole / det) * energy**2
        - (3 * ratios + 7) / (10 * det) * energy * half
        + ((i1**2 + i2**2 + i3**2) / (20 * det**2) + one / (5 * det)) * half**2
    )
    scale = 1 - (t3 * h**2 if terms > 0 else 0) + ((3 * t3**2 - t5) * h**4 if terms > 1 else 0)

    def residual(psi):
        product = exp(psi) * spread
        moved = product - product.T - h * scale * skew(p)
        return [mp.matrix([moved[2, 1], moved[0, 2], moved[1, 0]])]

    (psi,) = root(residual, [h * world.inverse * p])
    return r * exp(psi), exp(-psi) * p


# ---- Mandre 2008, section 6, with quaternions as 4×4 matrices
def left(w, x, y, z):
    """The matrix of p -> q p."""
    return mp.matrix([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


def quaternion_of(r):
    """Of a rotation matrix, its sign as it comes: (1 + r) turned by itself is along the axis."""
    w = mp.sqrt(1 + r[0, 0] + r[1, 1] + r[2, 2]) / 2
    return w, *((r[i, j] - r[j, i]) / (4 * w) for i, j in ((2, 1), (0, 2), (1, 0)))


def squared_matrix(a):
    """|q|² R of the quaternion in the first column."""
    w, x, y, z = a[:, 0]
    v = mp.matrix([x, y, z])
    return (w * w - (v.T * v)[0]) * mp.eye(3) + 2 * v * v.T + 2 * w * skew(v)


def rkn4(world, t, h, r, p, conjugates=False, gyroscopic=True):
    def inverse(a):
        return a.T if conjugates else a**-1

    def omega(a, ad):
        return 2 * (inverse(a) * ad)[1:4, 0]

    def slope(t, a, ad):
        rate = omega(a, ad)
        inertia = mp.diag(world.inertia)
        n = mp.matrix(world.torque_of_omega(t, squared_matrix(a), rate, cos=mp.cos))
        if gyroscopic:
            n -= skew(rate) * inertia * rate
        return ad * inverse(a) * ad + a * left(0, *(world.inverse * n)) / 2

    a = left(*quaternion_of(r))
    ad = a * left(0, *(world.inverse * p)) / 2
    k1 = slope(t, a, ad)
    middle = a + h / 2 * ad + h**2 / 8 * k1
    k2 = slope(t + h / 2, middle, ad + h / 2 * k1)
    k3 = slope(t + h / 2, middle, ad + h / 2 * k2)
    k4 = slope(t + h, a + h * ad + h**2 / 2 * k3, ad + h * k3)
    new = a + h * ad + h**2 / 6 * (k1 + k2 + k3)
    rate = ad + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    m = mp.diag(world.inertia) * omega(new, rate)
    return squared_matrix(new) / mp.det(new) ** mp.mpf("0.5"), m


def number(value):
    """An mpmath number from a fraction or a decimal number, unrounded."""
    top, bottom = value.as_integer_ratio()
    return mp.mpf(top) / bottom


STEPS = {
    "forward-euler": forward_euler,
    "backward-euler": backward_euler,
    "forward-euler-m": forward_euler_m,
    "backward-euler-m": backward_euler_m,
    "trap": trap,
    "imid": imid,
    "trapm": trapm,
    "imidm": imidm,
    "swc1": swc1,
    "akw": akw,
    "bbtrap": bbtrap,
    "bbtrapwd": bbtrapwd,
    "mr2": mr2,
    "mr4": mr4,
    "strang": strang,
    "strang4": partial(strang_composed, composition=COMPOSITIONS["suzuki4"]),
    "strang6": partial(strang_composed, composition=COMPOSITIONS["kahan-li6"]),
    "strang8": partial(strang_composed, composition=COMPOSITIONS["kahan-li8"]),
    "srkn14": srkn14,
    "srkn19": srkn19,
    "sbab5": sbab5,
    "aba1064": aba1064,
    "je": je,
    "jem2": partial(sej, fourth=False),
    "jem4": partial(sej, fourth=True),
    "sej": partial(sej, fourth=False),
    "sej4": partial(sej, fourth=True),
    "rkn4": rkn4,
    "dmv2": dmv,
    "dmv4": partial(dmv, terms=1),
    "dmv6": partial(dmv, terms=2),
    **{f"mkrk:{name}": partial(mkrk, tableau=tableau) for name, tableau in TABLEAUS.items()},
}
