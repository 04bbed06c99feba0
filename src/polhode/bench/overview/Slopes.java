// The right-hand sides of the four problems for Hipparchus, the mathematics below Orekit.

import org.hipparchus.ode.OrdinaryDifferentialEquation;

public abstract class Slopes implements OrdinaryDifferentialEquation {
    final double[] given;

    Slopes(double[] given) {
        this.given = given;
    }

    public int getDimension() {
        return 7;
    }

    /** q' = q ω/2. */
    static void turn(double[] y, double a, double b, double c, double[] out) {
        out[0] = -0.5 * (y[1] * a + y[2] * b + y[3] * c);
        out[1] = 0.5 * (y[0] * a + y[2] * c - y[3] * b);
        out[2] = 0.5 * (y[0] * b + y[3] * a - y[1] * c);
        out[3] = 0.5 * (y[0] * c + y[1] * b - y[2] * a);
    }

    /** Given the moments. */
    public static final class Free extends Slopes {
        final double k1, k2, k3;

        public Free(double[] given) {
            super(given);
            k1 = (given[1] - given[2]) / given[0];
            k2 = (given[2] - given[0]) / given[1];
            k3 = (given[0] - given[1]) / given[2];
        }

        public double[] computeDerivatives(double t, double[] y) {
            double a = y[4], b = y[5], c = y[6];
            double[] out = new double[7];
            turn(y, a, b, c, out);
            out[4] = k1 * b * c;
            out[5] = k2 * c * a;
            out[6] = k3 * a * b;
            return out;
        }
    }

    /** Given the moments and the weight times the centre of mass. */
    public static final class Top extends Slopes {
        final double i1, i2, i3, c1, c2, c3;

        public Top(double[] given) {
            super(given);
            i1 = given[0]; i2 = given[1]; i3 = given[2];
            c1 = given[3]; c2 = given[4]; c3 = given[5];
        }

        public double[] computeDerivatives(double t, double[] y) {
            double w = y[0], x = y[1], v = y[2], z = y[3], a = y[4], b = y[5], c = y[6];
            double g1 = 2.0 * (x * z - w * v), g2 = 2.0 * (v * z + w * x);
            double g3 = w * w + z * z - x * x - v * v;
            double[] out = new double[7];
            turn(y, a, b, c, out);
            out[4] = ((i2 - i3) * b * c + c3 * g2 - c2 * g3) / i1;
            out[5] = ((i3 - i1) * c * a + c1 * g3 - c3 * g1) / i2;
            out[6] = ((i1 - i2) * a * b + c2 * g1 - c1 * g2) / i3;
            return out;
        }
    }

    /** Given the moments and the rate of the orbit. */
    public static final class Satellite extends Slopes {
        final double k1, k2, k3, n, f;

        public Satellite(double[] given) {
            super(given);
            k1 = (given[2] - given[1]) / given[0];
            k2 = (given[0] - given[2]) / given[1];
            k3 = (given[1] - given[0]) / given[2];
            n = given[3];
            f = 3.0 * n * n;
        }

        public double[] computeDerivatives(double t, double[] y) {
            double w = y[0], x = y[1], v = y[2], z = y[3], a = y[4], b = y[5], c = y[6];
            double p = Math.cos(n * t), s = Math.sin(n * t);
            double u1 = p * (1.0 - 2.0 * (v * v + z * z)) + s * 2.0 * (x * v + w * z);
            double u2 = p * 2.0 * (x * v - w * z) + s * (1.0 - 2.0 * (x * x + z * z));
            double u3 = p * 2.0 * (x * z + w * v) + s * 2.0 * (v * z - w * x);
            double[] out = new double[7];
            turn(y, a, b, c, out);
            out[4] = k1 * (f * (u2 * u3) - b * c);
            out[5] = k2 * (f * (u3 * u1) - c * a);
            out[6] = k3 * (f * (u1 * u2) - a * b);
            return out;
        }
    }

    /** Given the rates of the orbit, the precession, the opening; the cone; the nutation, the tilt. */
    public static final class Turning extends Slopes {
        final double orbit, precession, opening, cone;
        final double cosNutation, sinNutation, versine, cosTilt, sinTilt;

        public Turning(double[] given) {
            super(given);
            orbit = given[0]; precession = given[1]; opening = given[2]; cone = given[3];
            cosNutation = Math.cos(given[4]); sinNutation = Math.sin(given[4]);
            versine = 2.0 * Math.pow(Math.sin(0.5 * given[4]), 2);
            cosTilt = Math.cos(given[5]); sinTilt = Math.sin(given[5]);
        }

        public int getDimension() {
            return 4;
        }

        public double[] computeDerivatives(double t, double[] y) {
            double cf = Math.cos(orbit * t), sf = Math.sin(orbit * t);
            double cp = Math.cos(precession * t), sp = Math.sin(precession * t);
            double angle = cone + opening * t, f = orbit - precession, g = Math.sin(angle);
            double b1 = opening * cp + f * g * sp, b2 = opening * sp - f * g * cp;
            double b3 = precession + f * Math.cos(angle), rest = sinNutation * (b3 - orbit);
            double along = (cf * b1 + sf * b2) * versine;
            double a = cosNutation * b1 + sf * rest + cf * along;
            double d = cosNutation * b2 - cf * rest + sf * along;
            double e = cosNutation * b3 + sinNutation * (cf * b2 - sf * b1) + orbit * versine;
            double b = cosTilt * d - sinTilt * e, c = sinTilt * d + cosTilt * e;
            return new double[] {
                -0.5 * (a * y[1] + b * y[2] + c * y[3]),
                0.5 * (a * y[0] + b * y[3] - c * y[2]),
                0.5 * (b * y[0] + c * y[1] - a * y[3]),
                0.5 * (c * y[0] + a * y[2] - b * y[1])
            };
        }
    }
}
