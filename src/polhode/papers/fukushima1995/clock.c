/* Time of one evaluation of Euler's equations for a body in the field of a distant one, and of its
   orientation matrix, in the arithmetic REAL, with its SIN, COS and NUMBER: seconds for the
   matrix and for all, in a line. */

#include <stdio.h>
#include <time.h>
#ifdef QUADRUPLE
#include <quadmath.h>
#endif

typedef REAL real;

static void matrix(const real *y, real e[3][3])
{
    real a = COS(y[0]), b = SIN(y[0]), c = COS(y[1]), s = SIN(y[1]), u = COS(y[2]), v = SIN(y[2]);
    e[0][0] = a * u - b * c * v, e[0][1] = -a * v - b * c * u, e[0][2] = b * s;
    e[1][0] = b * u + a * c * v, e[1][1] = -b * v + a * c * u, e[1][2] = -a * s;
    e[2][0] = s * v, e[2][1] = s * u, e[2][2] = c;
}

static void slope(real t, const real *y, real *rate)
{
    static const real moment[3] = {NUMBER(0.99672), NUMBER(0.99674), NUMBER(1.0)};
    real e[3][3], d[3], n[3], w[3];
    matrix(y, e);
    real l = NUMBER(0.017) * t, x = COS(l), z = SIN(l), k = NUMBER(0.001) * (1 + NUMBER(0.05) * x);
    for (int i = 0; i < 3; i++) {
        d[i] = e[0][i] * x + e[1][i] * z;
        w[i] = y[3 + i] / moment[i];
    }
    n[0] = k * (moment[2] - moment[1]) * d[1] * d[2];
    n[1] = k * (moment[0] - moment[2]) * d[2] * d[0];
    n[2] = k * (moment[1] - moment[0]) * d[0] * d[1];
    real s = SIN(y[2]), c = COS(y[2]);
    rate[0] = (w[0] * s + w[1] * c) / SIN(y[1]);
    rate[1] = w[0] * c - w[1] * s;
    rate[2] = w[2] - rate[0] * e[2][2];
    rate[3] = y[4] * w[2] - y[5] * w[1] + n[0];
    rate[4] = y[5] * w[0] - y[3] * w[2] + n[1];
    rate[5] = y[3] * w[1] - y[4] * w[0] + n[2];
}

int main(void)
{
    enum { COUNT = 5000, REPEATS = 5 };
    double least[2] = {1e9, 1e9};
    volatile double sink = 0;
    for (int r = 0; r < REPEATS; r++)
        for (int which = 0; which < 2; which++) {
            real y[6] = {NUMBER(0.3), NUMBER(0.4), NUMBER(0.5), NUMBER(1e-6), NUMBER(2e-6), NUMBER(6.283)};
            real e[3][3], rate[6];
            clock_t begin = clock();
            for (int k = 0; k < COUNT; k++) {
                if (which) {
                    slope(k * NUMBER(0.0078125), y, rate);
                    y[0] += NUMBER(1e-3) * rate[0], y[2] += NUMBER(1e-3) * rate[2];
                } else {
                    matrix(y, e);
                    y[0] += NUMBER(1e-6) * e[0][0], y[2] += NUMBER(1e-3);
                }
            }
            sink += (double)y[0];
            double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC / COUNT;
            if (seconds < least[which])
                least[which] = seconds;
        }
    printf("%g %g\n", least[0], least[1]);
    return 0;
}
