import jpype
import orekit_jpype
from scipy.spatial.transform import Rotation

orekit_jpype.initVM()
from org.hipparchus.ode import ODEState, OrdinaryDifferentialEquation  # noqa: E402
from org.hipparchus.ode.nonstiff import DormandPrince853Integrator  # noqa: E402

i1, i2, i3 = 1.0, 1.6, 2.2
c1, c2, c3 = 4.0, -3.0, 12.0
doubles = jpype.JArray(jpype.JDouble)


@jpype.JImplements(OrdinaryDifferentialEquation)
class Top:
    @jpype.JOverride
    def getDimension(self):
        return 7

    @jpype.JOverride
    def init(self, *start):
        pass

    @jpype.JOverride
    def computeDerivatives(self, t, state):
        w, x, y, z, a, b, c = state
        g1, g2 = 2 * (x * z - w * y), 2 * (y * z + w * x)
        g3 = w * w + z * z - x * x - y * y
        return doubles(
            [
                -0.5 * (x * a + y * b + z * c),
                0.5 * (w * a + y * c - z * b),
                0.5 * (w * b + z * a - x * c),
                0.5 * (w * c + x * b - y * a),
                ((i2 - i3) * b * c + c3 * g2 - c2 * g3) / i1,
                ((i3 - i1) * c * a + c1 * g3 - c3 * g1) / i2,
                ((i1 - i2) * a * b + c2 * g1 - c1 * g2) / i3,
            ]
        )


q = Rotation.from_rotvec((1.1, 0.4, -0.3)).as_quat(scalar_first=True)
solver = DormandPrince853Integrator(1e-6, 1.0, 1e-12, 1e-12)
end = solver.integrate(Top(), ODEState(0.0, doubles([*q, 1.0, 6.0, 2.0])), 8.0)
print(*list(end.getPrimaryState())[:4])
