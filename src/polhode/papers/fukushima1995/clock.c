/* Table 1 of Fukushima (1995): nanoseconds of an orientation matrix E, and of the equations of
   motion with it, in three sets of variables, in the arithmetic REAL with its SIN, COS and ROOT.

   "clock ROUNDS": a line for each round, with six numbers: E and equations of the new scheme, of
   Euler's angles, of Serret and Andoyer's variables, COUNT evaluations of each in turn.  Every
   evaluation needs the one before, as in an integration.
   "clock": E by rows and the rates of the variables, three lines, for a check.

   The formulas are those of schemes.py. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef QUADRUPLE
#include <quadmath.h>
#else
#include <math.h>
#endif

typedef REAL real;
enum { NEW, EULER, ANDOYER, SCHEMES };

static const real moment[3] = {NUMBER(0.99671), NUMBER(0.99674), NUMBER(1.0)};
/* nominal values of the new variables: L, L_X, L_Y, L_A, L_B, and of f with its rate */
static const real nominal[7] = {NUMBER(6.25),  NUMBER(0.25), NUMBER(-2.5), NUMBER(6e-6),
                                NUMBER(-4e-6), NUMBER(0.5),  NUMBER(6.25)};

/* ---- E = a R3(angle) b for rotations a and b, a given by its columns; "zero" is the place of what
   vanishes: in a[zero / 3][zero % 3], and in b likewise */
static inline __attribute__((always_inline)) void turned(real a[3][3], real angle, real b[3][3],
                                                         int zero, real e[3][3])
{
    real c = COS(angle), s = SIN(angle);
    int first = zero / 3, place = zero % 3;
    for (int i = 0; i < 3; i++) {
        real u = c * a[0][i], v = -s * a[0][i];
        if (place == i && first == 0)
            u = s * a[1][i], v = c * a[1][i];
        else if (place != i)
            u += s * a[1][i], v += c * a[1][i];
        for (int k = 0; k < 3; k++) {
            real rest = a[2][i] * b[2][k];
            if (place != k || first != 0)
                rest += u * b[0][k];
            if (place != k || first != 1)
                rest += v * b[1][k];
            e[i][k] = rest;
        }
    }
}

/* ---- the columns of Q12(x/L, y/L), from w, z, 1/L and 1/w */
static void q12(real x, real y, real z, real w, real f, real g, real q[3][3])
{
    real u = y * g, v = z * g;
    q[2][0] = x * f, q[2][1] = y * f, q[2][2] = z * f;
    q[0][0] = w * f, q[0][1] = -q[2][0] * u, q[0][2] = -q[2][0] * v;
    q[1][0] = 0, q[1][1] = v, q[1][2] = -u;
}

typedef struct { real whole, f, x, y, z, g, a, b, c, h; } tilts; /* f, g, h: inverses of L, w */

static void new_matrix(real t, const real *d, real e[3][3], tilts *s)
{
    real outer[3][3], inner[3][3];
    s->whole = nominal[0] + d[0];
    s->x = nominal[1] + d[1], s->y = nominal[2] + d[2];
    s->a = nominal[3] + d[3], s->b = nominal[4] + d[4];
    real square = s->whole * s->whole, p = square - s->x * s->x, q = square - s->a * s->a;
    real w = ROOT(p), v = ROOT(q);
    s->z = ROOT(p - s->y * s->y), s->c = ROOT(q - s->b * s->b);
    real all = 1 / (s->whole * w * v);
    s->f = all * w * v, s->g = all * s->whole * v, s->h = all * s->whole * w;
    q12(s->x, s->y, s->z, w, s->f, s->g, outer);
    q12(s->a, s->b, s->c, v, s->f, s->h, inner);
    turned(outer, nominal[5] + nominal[6] * t + d[5], inner, 3, e);
}

static void euler_matrix(const real *y, real e[3][3], real *sine, real *cosine)
{
    real a = COS(y[0]), b = SIN(y[0]), c = COS(y[1]), s = SIN(y[1]), u = COS(y[2]), v = SIN(y[2]);
    real ac = a * c, bc = b * c;
    e[0][0] = a * u - bc * v, e[0][1] = -a * v - bc * u, e[0][2] = b * s;
    e[1][0] = b * u + ac * v, e[1][1] = -b * v + ac * u, e[1][2] = -a * s;
    e[2][0] = s * v, e[2][1] = s * u, e[2][2] = c;
    sine[0] = s, sine[1] = v, cosine[0] = c, cosine[1] = u;
}

typedef struct { real f, cj, sj, ci, si, cl, sl, ch, sh; } nodes;

static void andoyer_matrix(const real *y, real e[3][3], nodes *n)
{
    n->f = 1 / y[4], n->cj = n->f * y[3], n->ci = n->f * y[5];
    n->sj = ROOT(1 - n->cj * n->cj), n->si = ROOT(1 - n->ci * n->ci);
    n->cl = COS(y[0]), n->sl = SIN(y[0]), n->ch = COS(y[2]), n->sh = SIN(y[2]);
    real a[3][3] = {{n->ch, n->sh, 0},
                    {-n->sh * n->ci, n->ch * n->ci, n->si},
                    {n->sh * n->si, -n->ch * n->si, n->ci}};
    real b[3][3] = {{n->cl, -n->sl, 0},
                    {n->cj * n->sl, n->cj * n->cl, -n->sj},
                    {n->sj * n->sl, n->sj * n->cl, n->cj}};
    turned(a, y[1], b, 2, e);
}

/* ---- the torque of two bodies on circles, in body axes */
static void torque(real t, real e[3][3], real *n)
{
    real sun = NUMBER(0.017) * t, moon = NUMBER(0.23) * t;
    real cs = COS(sun), ss = SIN(sun), cm = COS(moon), sm = SIN(moon);
    real d[3], g[3], k = NUMBER(9e-4), j = NUMBER(2e-3);
    for (int i = 0; i < 3; i++) {
        d[i] = e[0][i] * cs + e[1][i] * ss;
        g[i] = e[0][i] * cm + e[1][i] * sm + e[2][i] * (NUMBER(0.09) * sm);
    }
    n[0] = (moment[2] - moment[1]) * (k * d[1] * d[2] + j * g[1] * g[2]);
    n[1] = (moment[0] - moment[2]) * (k * d[2] * d[0] + j * g[2] * g[0]);
    n[2] = (moment[1] - moment[0]) * (k * d[0] * d[1] + j * g[0] * g[1]);
}

/* ---- rates */
static void new_slope(real t, const real *d, real *rate)
{
    real e[3][3], n[3], o[3];
    tilts s;
    new_matrix(t, d, e, &s);
    torque(t, e, n);
    for (int i = 0; i < 3; i++)
        o[i] = e[i][0] * n[0] + e[i][1] * n[1] + e[i][2] * n[2];
    real i = 1 / moment[0], j = 1 / moment[1], k = 1 / moment[2], u = s.h * s.h, v = s.g * s.g;
    rate[0] = s.f * (s.a * n[0] + s.b * n[1] + s.c * n[2]);
    rate[1] = o[0], rate[2] = o[1];
    rate[3] = (k - j) * s.b * s.c + n[0];
    rate[4] = (i - k) * s.c * s.a + n[1];
    rate[5] = d[0] * k + (j - k) * s.whole * s.b * s.b * u
              - s.f * s.a * (s.c * n[1] - s.b * n[2]) * u
              + s.f * s.x * (s.z * o[1] - s.y * o[2]) * v; /* (2), with the right signs */
}

static void euler_slope(real t, const real *y, real *rate)
{
    real e[3][3], n[3], w[3], sine[2], cosine[2];
    euler_matrix(y, e, sine, cosine);
    torque(t, e, n);
    for (int i = 0; i < 3; i++)
        w[i] = y[3 + i] / moment[i];
    rate[0] = (w[0] * sine[1] + w[1] * cosine[1]) / sine[0];
    rate[1] = w[0] * cosine[1] - w[1] * sine[1];
    rate[2] = w[2] - rate[0] * cosine[0];
    rate[3] = y[4] * w[2] - y[5] * w[1] + n[0];
    rate[4] = y[5] * w[0] - y[3] * w[2] + n[1];
    rate[5] = y[3] * w[1] - y[4] * w[0] + n[2];
}

static void andoyer_slope(real t, const real *y, real *rate)
{
    real e[3][3], n[3], o[3];
    nodes a;
    andoyer_matrix(y, e, &a);
    torque(t, e, n);
    for (int i = 0; i < 3; i++)
        o[i] = e[i][0] * n[0] + e[i][1] * n[1] + e[i][2] * n[2];
    real m1 = y[4] * a.sj * a.sl, m2 = y[4] * a.sj * a.cl;
    real i = 1 / moment[0], j = 1 / moment[1], k = 1 / moment[2];
    rate[0] = y[3] * (k - i * a.sl * a.sl - j * a.cl * a.cl)
              + a.f * (n[0] * a.cl - n[1] * a.sl) / a.sj;
    rate[2] = a.f * (o[0] * a.ch + o[1] * a.sh) / a.si;
    rate[1] = a.f * (m1 * m1 * i + m2 * m2 * j + y[3] * y[3] * k) - rate[2] * a.ci - rate[0] * a.cj;
    rate[3] = m1 * m2 * (j - i) + n[2];
    rate[4] = a.f * (n[0] * m1 + n[1] * m2 + n[2] * y[3]);
    rate[5] = o[2];
}

/* ---- what is timed */
static const real start[SCHEMES][6] = {
    {NUMBER(1e-6), NUMBER(2e-6), NUMBER(-1e-6), NUMBER(1e-7), NUMBER(2e-7), NUMBER(1e-6)},
    {NUMBER(0.3), NUMBER(0.4), NUMBER(0.5), NUMBER(1e-2), NUMBER(2e-2), NUMBER(6.25)},
    {NUMBER(0.3), NUMBER(0.4), NUMBER(0.5), NUMBER(6.0), NUMBER(6.25), NUMBER(5.5)},
};

static void matrix(int scheme, real t, const real *y, real e[3][3])
{
    tilts s;
    nodes n;
    real sine[2], cosine[2];
    if (scheme == NEW)
        new_matrix(t, y, e, &s);
    else if (scheme == EULER)
        euler_matrix(y, e, sine, cosine);
    else
        andoyer_matrix(y, e, &n);
}

static void slope(int scheme, real t, const real *y, real *rate)
{
    if (scheme == NEW)
        new_slope(t, y, rate);
    else if (scheme == EULER)
        euler_slope(t, y, rate);
    else
        andoyer_slope(t, y, rate);
}

static const int fast[SCHEMES] = {-1, 2, 1}; /* the angle that turns with the body, if integrated */
static volatile double sink;

static inline __attribute__((always_inline)) double timed(int scheme, int whole)
{
    real y[6], e[3][3], rate[6], total = 0, h = NUMBER(0.0078125), tiny = NUMBER(1e-9);
    clock_t begin = clock();
    memcpy(y, start[scheme], sizeof y);
    for (int k = 0; k < COUNT; k++) {
        real sum = 0;
        if (whole) {
            slope(scheme, k * h, y, rate);
            for (int i = 0; i < 6; i++)
                sum += rate[i];
        } else {
            matrix(scheme, k * h, y, e);
            for (int i = 0; i < 9; i++)
                sum += e[i / 3][i % 3];
        }
        for (int i = 0; i < 6; i++)
            y[i] += tiny * sum;
        if (scheme != NEW)
            y[fast[scheme]] += h * nominal[6];
        total += sum;
    }
    sink += (double)total;
    return 1e9 * (double)(clock() - begin) / CLOCKS_PER_SEC / COUNT;
}

int main(int given, char **words)
{
    if (given == 1)
        for (int scheme = 0; scheme < SCHEMES; scheme++) {
            real e[3][3], rate[6];
            matrix(scheme, NUMBER(0.75), start[scheme], e);
            slope(scheme, NUMBER(0.75), start[scheme], rate);
            for (int i = 0; i < 9; i++)
                printf("%.17g ", (double)e[i / 3][i % 3]);
            for (int i = 0; i < 6; i++)
                printf("%.17g ", (double)rate[i]);
            printf("\n");
        }
    for (int round = given > 1 ? atoi(words[1]) : 0; round > 0; round--) {
        printf("%g %g ", timed(NEW, 0), timed(NEW, 1));
        printf("%g %g ", timed(EULER, 0), timed(EULER, 1));
        printf("%g %g\n", timed(ANDOYER, 0), timed(ANDOYER, 1));
    }
    return 0;
}
