"""Coefficients of symmetric splittings into drifts A and kicks B.

    B(b_0 h) A(a_1 h) B(b_1 h) A(a_2 h) … A(a_s h) B(b_s h)                                 (1)

with b_0 = b_s = 0 for splittings that begin with a drift.  A method takes them in parts of one
drift and the kick before it, the last part also with the kick after it.

``orders`` are the powers of h up to which error terms vanish, by the number of kicks in them:
``orders[k - 1]`` for k kicks, and the last for all larger k.  The order of the method is the
smallest.  For a torque of ε times the energy of rotation, orders (10, 6, 4) mean an error of
ε h^10 + ε² h^6 + ε³ h^4: made for weak torques.

``nystrom``: no condition is imposed on terms with [B, [B, [B, A]]], which vanish by themselves if B
is a function of the attitude and A is quadratic in the momentum.

Coefficients are exact expressions, or the digits of their source, the last of which are refined
(with the least change) until the conditions hold to 40 digits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import pairwise
from types import MappingProxyType

from polhode.tableaus.composition import DIGITS, KAHAN_LI6, KAHAN_LI8, SUZUKI4, Composition


@dataclass(frozen=True, kw_only=True)
class Splitting:
    """Drifts a_1 … a_s and kicks b_0 … b_s of (1), and the orders they give."""

    name: str
    drifts: tuple[Decimal, ...]
    kicks: tuple[Decimal, ...]
    orders: tuple[int, ...]
    nystrom: bool = False
    references: tuple[str, ...]

    @property
    def order(self) -> int:
        return min(self.orders)

    @property
    def parts(self) -> tuple[tuple[Decimal, ...], ...]:
        """(a, b, c): drift a after a kick b and before a kick c."""
        *kicks, last = self.kicks
        inner = ((a, b, Decimal(0)) for a, b in zip(self.drifts, kicks, strict=True))
        return *list(inner)[:-1], (self.drifts[-1], kicks[-1], last)

    @property
    def rows(self) -> tuple[tuple[float, ...], ...]:
        """The parts as weights of a method."""
        return tuple(tuple(map(float, part)) for part in self.parts)


def composed(composition: Composition) -> Splitting:
    """Compose Strang's splitting, merging neighbouring kicks."""
    with localcontext(prec=DIGITS):
        halves = [w / 2 for w in composition.weights]
        inner = (a + b for a, b in pairwise(halves))
        kicks = halves[0], *inner, halves[-1]
    return Splitting(
        name=f"strang {composition.name}",
        drifts=composition.weights,
        kicks=kicks,
        orders=(composition.order,),
        references=composition.references,
    )


def _mirrored(first: str, single: bool) -> tuple[Decimal, ...]:
    """Complete the first coefficients symmetrically; one or two in the middle make the sum 1."""
    given = tuple(map(Decimal, first.split()))
    with localcontext(prec=DIGITS):
        left = 1 - 2 * sum(given, Decimal(0))
        return *given, *((left,) if single else (left / 2, left / 2)), *given[::-1]


def _symmetric(
    name: str, drifts: str, kicks: str, orders: tuple[int, ...], *references: str, **more: bool
) -> Splitting:
    """Make a splitting that begins with a drift, from the first coefficients of each kind.

    In the middle is a drift if more of them are given, else a kick.
    """
    drift = len(drifts.split()) > len(kicks.split())
    a, b = _mirrored(drifts, single=drift), _mirrored(kicks, single=not drift)
    b = Decimal(0), *b, Decimal(0)
    return Splitting(name=name, drifts=a, kicks=b, orders=orders, references=references, **more)


STRANG = Splitting(
    name="strang",
    drifts=(Decimal(1),),
    kicks=(Decimal("0.5"), Decimal("0.5")),
    orders=(2,),
    references=("strang1968",),
)
STRANG4, STRANG6, STRANG8 = map(composed, (SUZUKI4, KAHAN_LI6, KAHAN_LI8))
SRKN14A = _symmetric(
    "blanes-moan srkn14a",
    """0.0378593198406109414470211790380111040319755
       0.102635633102436552847082250940338061275928
       -0.0258678882665583331639469603593653385591339
       0.314241403071446434147142535703284011078914
       -0.130144459517415113849615078540028516172086
       0.106417700369541368022280139285383456948005
       -0.0087942431285102043940694284276599030323366""",
    """0.0917191526244620179811832282648683402498266
       0.183983170005004898491476564676343338006702
       -0.0565343658328891043952770448480899492896174
       0.00491468877471188564020561645501572440411864
       0.143761127168361682387374529986772210487129
       0.32856769374680414020048125762703534009476""",
    (6,),
    "blanes2002",
    nystrom=True,
)
SRKN19A = _symmetric(
    "blanes-casas-escorihuela a19",
    """0.0505805
       0.149999
       -0.0551795510771615573511026950361314881094
       0.423755898835337951482264998050611178316
       -0.213495353584659048059672194632562350791
       -0.0680769774574032619111630736273637500213
       0.227917056974013435948887201670676398426
       -0.235373619381058906524740047731515868840
       0.387413869179878047816794031058051050094""",
    """0.129478606560536730662493794394516673971
       0.222257260092671143423043559580594010355
       -0.0577514893325147204757023246320218573473
       -0.0578312262103924910221345032763214955351
       0.103087297437175356747933252265477977436
       -0.140819612554090768205554103886795475124
       0.0234462603492826276699713718626442877490
       0.134854517356684096617882205067902308784
       0.0287973821073779306345172160211211357828""",
    (8,),
    "blanes2022",
    nystrom=True,
)

ABA1064 = _symmetric(
    "aba(10,6,4)",
    """0.03809449742241219545697532230863756534060
       0.1452987161169137492940200726606637497442
       0.2076276957255412507162056113249882065158
       0.4359097036515261592231548624010651844006""",
    """0.09585888083707521061077150377145884776921
       0.2044461531429987806805077839164344779763
       0.2170703479789911017143385924306336714532""",
    (10, 6, 4),
    "blanes2013",
)


def _lobatto() -> Splitting:
    """Make kicks at the six Lobatto nodes, with their weights: order 10 for one kick."""
    with localcontext(prec=DIGITS):
        root = Decimal(7).sqrt()
        outer, inner = (((7 + k * root) / 21).sqrt() for k in (2, -2))  # nodes in (-1, 1)
        kicks = Decimal(1) / 30, (14 - root) / 60, (14 + root) / 60
        drifts = (1 - outer) / 2, (outer - inner) / 2, inner
    return Splitting(
        name="sbab5",
        drifts=drifts + drifts[-2::-1],
        kicks=kicks + kicks[::-1],
        orders=(10, 2),
        references=("laskar2001",),
    )


SBAB5 = _lobatto()

SPLITTINGS: Mapping[str, Splitting] = MappingProxyType(
    {
        splitting.name: splitting
        for splitting in (STRANG, STRANG4, STRANG6, STRANG8, SRKN14A, SRKN19A, SBAB5, ABA1064)
    }
)
