"""Embedded pairs: two tableaus with the same A and c, whose difference estimates the error.

``PAIRS[name]`` is (the tableau of the step, the one it is compared with).  If the last row of A is
b, the last stage of a step is the first stage of the next.

- dopri5: Dormand & Prince, J. Comput. Appl. Math. 6 (1980) 19-26, table 2; Hairer, Nørsett, Wanner,
  Solving Ordinary Differential Equations I, table II.5.2.
- bosh3: Bogacki & Shampine, Appl. Math. Lett. 2 (1989) 321-325.
"""

from polhode.tableaus.runge_kutta import Tableau, rational

_DOPRI = """0 0 0 0 0 0 0
            1/5 0 0 0 0 0 0
            3/40 9/40 0 0 0 0 0
            44/45 -56/15 32/9 0 0 0 0
            19372/6561 -25360/2187 64448/6561 -212/729 0 0 0
            9017/3168 -355/33 46732/5247 49/176 -5103/18656 0 0
            35/384 0 500/1113 125/192 -2187/6784 11/84 0"""
_BOSH = """0 0 0 0
           1/2 0 0 0
           0 3/4 0 0
           2/9 1/3 4/9 0"""

DOPRI5 = rational("dopri5", _DOPRI, "35/384 0 500/1113 125/192 -2187/6784 11/84 0", 5)
DOPRI4 = rational(
    "dopri4", _DOPRI, "5179/57600 0 7571/16695 393/640 -92097/339200 187/2100 1/40", 4
)
BOSH3 = rational("bosh3", _BOSH, "2/9 1/3 4/9 0", 3)
BOSH2 = rational("bosh2", _BOSH, "7/24 1/4 1/3 1/8", 2)

PAIRS: dict[str, tuple[Tableau, Tableau]] = {
    "dopri5": (DOPRI5, DOPRI4),
    "bosh3": (BOSH3, BOSH2),
}
