"""Integrate a charged particle in electric and magnetic fields in the Lorentz group (c = 1).

The four-velocity is u(τ) = Y(τ) u(0) with Y' = A Y and A = (q/m) (-B + i E): the field rotates u
by -B and boosts it by E.  In constant fields Y = exp(τ A), whether they are of magnetic or electric
type, or null (E ⟂ B, E = B), where no frame makes one of them vanish and u grows as τ².

In a circularly polarised wave, the particle sees the phase k·x = τ k·u(0), because a plane wave
does not change k·u.  Its field rotates uniformly with τ, A = exp(τX) A₀ exp(-τX), and

    Y = exp(τX) exp(τ(A₀ - X)).
"""

import math

import numpy as np
from scipy.linalg import expm

from polhode import lie

group = lie.Lorentz("left")
rest = np.array([1.0, 0.0, 0.0, 0.0])


def field(e, b):
    """A for q/m = 1."""
    return -np.asarray(b, float) + 1j * np.asarray(e, float)


def tensor(e, b):
    """The same as a 4×4 matrix, u' = F u: E·u and u₀ E + u × B."""
    (b1, b2, b3), f = b, np.zeros((4, 4))
    f[0, 1:] = f[1:, 0] = e
    f[1:, 1:] = [[0, b3, -b2], [-b3, 0, b1], [b2, -b1, 0]]
    return f


for name, e, b in [
    ("magnetic", (0.2, 0.0, 0.1), (0.0, 0.3, 1.0)),
    ("electric", (1.0, 0.4, 0.0), (0.0, 0.0, 0.5)),
    ("parallel", (0.0, 0.0, 0.7), (0.0, 0.0, 2.0)),
    ("null", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
]:
    a = field(e, b)
    path = lie.integrate(group, lambda tau, a=a: a, (0.0, 4.0), t_eval=np.linspace(0, 4, 9))
    u = path.act(rest)
    exact = np.array([expm(tau * tensor(e, b)) @ rest for tau in path.t])
    error = abs(u - exact).max() / exact.max()
    print(f"{name:9} γ = {u[-1, 0]:9.4f}, error {error:.0e}, {path}")
    assert path.success
    assert error < 1e-12  # mostly the error of SciPy's expm, 4e-13 in the electric field
    if name == "null":  # a polynomial: γ = 1 + τ²/2, u = (τ, 0, τ²/2)
        tau = path.t
        polynomial = np.column_stack([1 + tau**2 / 2, tau, 0 * tau, tau**2 / 2])
        assert abs(u - polynomial).max() < 1e-13

# a wave along z of frequency 3 and strength 2, met head-on: u(0) = (γ, 0, 0, -γ v)
frequency, strength, rapidity = 3.0, 2.0, 0.8
first = np.array([math.cosh(rapidity), 0.0, 0.0, -math.sinh(rapidity)])
rate = frequency * (first[0] - first[3])  # d(phase)/dτ


def wave(tau):
    c, s = strength * math.cos(rate * tau), strength * math.sin(rate * tau)
    return field(e=(c, s, 0.0), b=(-s, c, 0.0))  # B = k × E


path = lie.integrate(group, wave, (0.0, 5.0), rtol=1e-10)
u = path.act(first)
x = np.array([0.0, 0.0, rate])
exact = [group.compose(group.exp(t * x), group.exp(t * (wave(0.0) - x))) for t in path.t]
error = abs(u - group.act(np.array(exact), first)).max() / u.max()
change = abs((u[:, 0] - u[:, 3]) / (first[0] - first[3]) - 1).max()
print(f"wave      γ = {u[:, 0].max():9.4f}, error {error:.0e}, {path}")
print(f"k·u is conserved to {change:.0e}")
assert path.success
assert error < 1e-9
assert change < 1e-9
