/* The model Earth or Moon with 113 bits: quaternion and momentum in body axes, plain, by Gragg's
   extrapolation with 2, 4, ..., 16 substeps.  HEADER has the numbers; see model_orbits.py.

   model_orbits REVOLUTIONS STEPS_A_REVOLUTION prints q and m after 1, 2, 4, ... and some more. */

#include <quadmath.h>
#include <stdio.h>
#include <stdlib.h>

typedef __float128 real;

#include HEADER /* MOMENT[3], SUN[5], MOON[9], START[7] */

enum { COLUMNS = 8, SIZE = 7 };

/* n += k (d in body axes) x I (d in body axes) */
static void pull(const real *d, const real *q, real k, real *n)
{
    real w = q[0], x = q[1], y = q[2], z = q[3];
    real a = (w * w + x * x - y * y - z * z) * d[0] + 2 * (x * y + w * z) * d[1] + 2 * (x * z - w * y) * d[2];
    real b = 2 * (x * y - w * z) * d[0] + (w * w - x * x + y * y - z * z) * d[1] + 2 * (y * z + w * x) * d[2];
    real c = 2 * (x * z + w * y) * d[0] + 2 * (y * z - w * x) * d[1] + (w * w - x * x - y * y + z * z) * d[2];
    n[0] += k * (MOMENT[2] - MOMENT[1]) * b * c;
    n[1] += k * (MOMENT[0] - MOMENT[2]) * c * a;
    n[2] += k * (MOMENT[1] - MOMENT[0]) * a * b;
}

static void slope(real t, const real *y, real *rate)
{
    real n[3] = {0, 0, 0}, d[3], s, c, sin_u, cos_u, sin_node, cos_node, sin_tilt, cos_tilt;
    real square = y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3];

    real l = SUN[2] + SUN[3] * t;
    sincosq(l - SUN[4], &s, &c);
    real near = 1 + SUN[1] * c;
    sincosq(l + 2 * SUN[1] * s, &d[1], &d[0]);
    d[2] = 0;
    pull(d, y, SUN[0] * near * near * near / (square * square), n);

    l = MOON[3] + MOON[4] * t;
    real node = MOON[7] + MOON[8] * t;
    sincosq(l - (MOON[5] + MOON[6] * t), &s, &c);
    near = 1 + MOON[1] * c;
    sincosq(l - node + 2 * MOON[1] * s + 1.25Q * MOON[1] * MOON[1] * 2 * s * c, &sin_u, &cos_u);
    sincosq(node, &sin_node, &cos_node);
    sincosq(MOON[2], &sin_tilt, &cos_tilt);
    d[0] = cos_node * cos_u - sin_node * sin_u * cos_tilt;
    d[1] = sin_node * cos_u + cos_node * sin_u * cos_tilt;
    d[2] = sin_u * sin_tilt;
    pull(d, y, MOON[0] * near * near * near / (square * square), n);

    real w = y[0], x = y[1], v = y[2], z = y[3];
    real a = y[4] / MOMENT[0], b = y[5] / MOMENT[1], e = y[6] / MOMENT[2];
    rate[0] = (-x * a - v * b - z * e) / 2;
    rate[1] = (w * a + v * e - z * b) / 2;
    rate[2] = (w * b + z * a - x * e) / 2;
    rate[3] = (w * e + x * b - v * a) / 2;
    rate[4] = y[5] * e - y[6] * b + n[0];
    rate[5] = y[6] * a - y[4] * e + n[1];
    rate[6] = y[4] * b - y[5] * a + n[2];
}

static void step(real t, real h, real *y)
{
    real table[COLUMNS][SIZE], first[SIZE];
    slope(t, y, first);
    for (int j = 0; j < COLUMNS; j++) {
        int count = 2 * (j + 1);
        real part = h / count, before[SIZE], now[SIZE], rate[SIZE];
        for (int i = 0; i < SIZE; i++) {
            before[i] = y[i];
            now[i] = y[i] + part * first[i];
        }
        for (int m = 1; m < count; m++) {
            slope(t + m * part, now, rate);
            for (int i = 0; i < SIZE; i++) {
                real next = before[i] + 2 * part * rate[i];
                before[i] = now[i];
                now[i] = next;
            }
        }
        for (int i = 0; i < SIZE; i++)
            table[j][i] = now[i];
        for (int m = j - 1; m >= 0; m--) {
            real ratio = (real)(j + 1) / (m + 1);
            for (int i = 0; i < SIZE; i++)
                table[m][i] = table[m + 1][i] + (table[m + 1][i] - table[m][i]) / (ratio * ratio - 1);
        }
    }
    for (int i = 0; i < SIZE; i++)
        y[i] = table[0][i];
}

static void print(long revolutions, const real *y)
{
    char text[64];
    real square = y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3];
    printf("%ld", revolutions);
    for (int i = 0; i < SIZE; i++) {
        quadmath_snprintf(text, sizeof text, "%.30Qg", i < 4 ? y[i] / sqrtq(square) : y[i]);
        printf(",%s", text);
    }
    printf("\n");
    fflush(stdout);
}

int main(int count, char **words)
{
    if (count != 3)
        return 1;
    long revolutions = atol(words[1]), steps = atol(words[2]), next = 1;
    real y[SIZE];
    for (int i = 0; i < SIZE; i++)
        y[i] = START[i];
    for (long r = 1; r <= revolutions; r++) {
        for (long k = 0; k < steps; k++)
            step((r - 1) + k / (real)steps, 1 / (real)steps, y);
        if (r == next || r == 1000 || r == 10000 || r == revolutions)
            print(r, y);
        if (r == next)
            next *= 2;
    }
    return 0;
}
