/* The methods of single.py, operation by operation as the library writes them.

   A heavy top in principal axes: torque = (R^T e_z) x (0, 0, strength).  Every fused multiply-add is
   an fma() here and nowhere else, so that with -ffp-contract=off the results are the library's, bit
   for bit.  With -Ofast the compiler may do as it likes.

   Each loop takes `steps` steps of `h` from the state (q, m) and leaves the new one in its place. */

#include <math.h>

typedef struct { double x, y, z; } vector;
typedef struct { double w, x, y, z; } quaternion;
typedef struct { quaternion q; vector m; } state;
typedef struct { double c1; vector v; } turn;  /* the quaternion (1 + c1, v) */
typedef struct { vector r1, r2, r3; } rows;

/* ---- vectors */
static inline vector multiply(double f, vector a) { return (vector){f * a.x, f * a.y, f * a.z}; }

static inline vector scale(vector a, vector b) { return (vector){a.x * b.x, a.y * b.y, a.z * b.z}; }

static inline vector subtract(vector a, vector b) {
    return (vector){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vector add_scaled(vector a, double f, vector b) {
    return (vector){fma(f, b.x, a.x), fma(f, b.y, a.y), fma(f, b.z, a.z)};
}

static inline double dot(vector a, vector b) {
    return fma(a.x, b.x, fma(a.y, b.y, a.z * b.z));
}

static inline vector cross(vector a, vector b) {
    return (vector){fma(a.y, b.z, -(a.z * b.y)), fma(a.z, b.x, -(a.x * b.z)),
                    fma(a.x, b.y, -(a.y * b.x))};
}

static inline vector solve3(rows a, vector b) {
    vector c23 = cross(a.r2, a.r3), c31 = cross(a.r3, a.r1), c12 = cross(a.r1, a.r2);
    double f = 1.0 / dot(a.r1, c23);
    return multiply(f, add_scaled(add_scaled(multiply(b.x, c23), b.y, c31), b.z, c12));
}

/* ---- sin a and cos a - 1 */
static inline void sincos1(double a, double *s, double *c) {
    double k = rint(a * 0.15915494309189535);
    double r = fma(-k, 2.4492935982947064e-16, fma(-k, 6.283185307179586, a));
    double z = r * r, z2 = z * z, z4 = z2 * z2;
    double p = fma(z4,
                   fma(z2, fma(z, 4.167841914273055e-20, -4.665508828117721e-17),
                       fma(z, 3.920648753086607e-14, -2.4464948844424267e-11)),
                   fma(z2, fma(z, 1.07645778199847e-08, -3.1001984126960884e-06),
                       fma(z, 0.0005208333333333322, -0.041666666666666664)));
    double q = fma(z4,
                   fma(z2, fma(z, -5.80543472999435e-22, 7.290462658750289e-19),
                       fma(z, -7.001167152596309e-16, 5.096864404961478e-13)),
                   fma(z2, fma(z, -2.691144455231285e-10, 9.688120039679628e-08),
                       fma(z, -2.1701388888888876e-05, 0.0026041666666666665)));
    double s2 = fma(r * z, p, r);
    double c1 = z * fma(z, q, -0.125);
    *s = fma(s2, c1, s2);
    *c = -0.5 * (s2 * s2);
}

/* ---- rotations */
static inline turn exp1(vector psi) {
    double n = sqrt(fma(psi.x, psi.x, fma(psi.y, psi.y, fma(psi.z, psi.z, 1e-300)))), s, c1;
    sincos1(0.5 * n, &s, &c1);
    return (turn){c1, multiply(s / n, psi)};
}

static inline double gamma_series(double a2) {
    double low = fma(a2, fma(a2, fma(a2, 1.0 / 1209600, 1.0 / 30240), 1.0 / 720), 1.0 / 12);
    double high = fma(a2,
                      fma(a2,
                          fma(a2,
                              fma(a2, 43867.0 / 5109094217170944000.0,
                                  3617.0 / 10670622842880000.0),
                              1.0 / 74724249600.0),
                          691.0 / 1307674368000.0),
                      1.0 / 47900160);
    return fma((a2 * a2) * (a2 * a2), high, low);
}

static inline turn exp1_and_gamma(vector psi, double *gamma) {
    double a2 = fma(psi.x, psi.x, fma(psi.y, psi.y, fma(psi.z, psi.z, 1e-300)));
    double n = sqrt(a2), s, c1;
    sincos1(0.5 * n, &s, &c1);
    s = s / n;
    *gamma = a2 < 0.25 ? gamma_series(a2) : (s + s - (1.0 + c1)) / ((s + s) * a2);
    return (turn){c1, multiply(s, psi)};
}

static inline vector dexpinv_by(double gamma, vector psi, vector v) {
    vector k = cross(psi, v);
    return add_scaled(add_scaled(v, -0.5, k), gamma, cross(psi, k));
}

static inline quaternion product1(quaternion q, turn e) {
    vector v = e.v;
    return (quaternion){
        q.w + fma(e.c1, q.w, -dot((vector){q.x, q.y, q.z}, v)),
        q.x + fma(e.c1, q.x, fma(q.w, v.x, fma(q.y, v.z, -(q.z * v.y)))),
        q.y + fma(e.c1, q.y, fma(q.w, v.y, fma(q.z, v.x, -(q.x * v.z)))),
        q.z + fma(e.c1, q.z, fma(q.w, v.z, fma(q.x, v.y, -(q.y * v.x)))),
    };
}

static inline vector turned_back(turn e, vector m) {
    vector k = cross(e.v, m);
    k = (vector){k.x + k.x, k.y + k.y, k.z + k.z};
    vector change = add_scaled(add_scaled(cross(e.v, k), -e.c1, k), -1.0, k);
    return (vector){m.x + change.x, m.y + change.y, m.z + change.z};
}

static inline vector turned(turn e, vector m) {
    return turned_back((turn){e.c1, {-e.v.x, -e.v.y, -e.v.z}}, m);
}

/* d(exp(-psi) m)/dpsi, n = exp(-psi) m, to second order in psi */
static inline rows turned_back_jacobian(vector u, vector n) {
    vector k = cross(n, u), p = multiply(0.5, u);
    double s = 1.0 / 6.0, f = fma(-s, dot(u, u), 1.0), g = dot(n, p);
    double h1 = s * k.x, h2 = s * k.y, h3 = s * k.z;
    return (rows){
        {fma(h1, u.x, fma(-p.x, n.x, g)), fma(h1, u.y, fma(-p.x, n.y, -(f * n.z))),
         fma(h1, u.z, fma(-p.x, n.z, f * n.y))},
        {fma(h2, u.x, fma(-p.y, n.x, f * n.z)), fma(h2, u.y, fma(-p.y, n.y, g)),
         fma(h2, u.z, fma(-p.y, n.z, -(f * n.x)))},
        {fma(h3, u.x, fma(-p.z, n.x, -(f * n.y))), fma(h3, u.y, fma(-p.z, n.y, f * n.x)),
         fma(h3, u.z, fma(-p.z, n.z, g))},
    };
}

static inline rows euler_newton_rows(double f, vector a, rows j) {
    double f1 = f * a.x, f2 = f * a.y, f3 = f * a.z;
    return (rows){
        {fma(-f1, j.r1.x, 1.0), -(f1 * j.r1.y), -(f1 * j.r1.z)},
        {-(f2 * j.r2.x), fma(-f2, j.r2.y, 1.0), -(f2 * j.r2.z)},
        {-(f3 * j.r3.x), -(f3 * j.r3.y), fma(-f3, j.r3.z, 1.0)},
    };
}

/* ---- the torque, as the library writes it, and as a user would */
static inline vector torque(quaternion q, double strength) {
    vector up = {2.0 * fma(q.x, q.z, -(q.w * q.y)), 2.0 * fma(q.y, q.z, q.w * q.x),
                 fma(q.w, q.w, q.z * q.z) - fma(q.x, q.x, q.y * q.y)};
    return cross(up, (vector){0.0, 0.0, strength});
}

static inline vector plain_torque(quaternion q, double strength) {
    double x = 2.0 * (q.x * q.z - q.w * q.y), y = 2.0 * (q.y * q.z + q.w * q.x);
    return (vector){strength * y, -strength * x, 0.0};
}

/* ---- loops */
static inline int all_finite(state s) {
    double q = (s.q.w - s.q.w) + (s.q.x - s.q.x) + (s.q.y - s.q.y) + (s.q.z - s.q.z);
    double m = (s.m.x - s.m.x) + (s.m.y - s.m.y) + (s.m.z - s.m.z);
    return q + m == 0.0;
}

static inline state forward_euler_m_step(double h, state s, vector inverse, double strength) {
    vector kicked = add_scaled(s.m, h, torque(s.q, strength));
    turn e = exp1(multiply(h, scale(inverse, s.m)));
    return (state){product1(s.q, e), turned_back(e, kicked)};
}

static inline state rk4_step(double h, state s, vector inverse, double strength) {
    static const double a[] = {0.5, 0.5, 1.0}, b[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    vector k = scale(inverse, s.m), impulse = torque(s.q, strength);
    vector turns = multiply(b[0], k), impulses = multiply(b[0], impulse);
    for (int j = 0; j < 3; j++) {
        vector psi = multiply(h, multiply(a[j], k));
        double gamma;
        turn e = exp1_and_gamma(psi, &gamma);
        vector m = turned_back(e, add_scaled(s.m, h, multiply(a[j], impulse)));
        k = dexpinv_by(gamma, multiply(-1.0, psi), scale(inverse, m));
        impulse = turned(e, torque(product1(s.q, e), strength));
        turns = add_scaled(turns, b[j + 1], k);
        impulses = add_scaled(impulses, b[j + 1], impulse);
    }
    turn e = exp1(multiply(h, turns));
    return (state){product1(s.q, e), turned_back(e, add_scaled(s.m, h, impulses))};
}

#define EXPLICIT(name)                                                                          \
    long name(long steps, double h, state *start, const vector *inverse, double strength) {     \
        state s = *start;                                                                       \
        vector a = *inverse;                                                                    \
        for (long i = 0; i < steps; i++) {                                                      \
            state new = name##_step(h, s, a, strength);                                         \
            if (!all_finite(new)) return -1;                                                        \
            s = new;                                                                            \
        }                                                                                       \
        *start = s;                                                                             \
        return 0;                                                                               \
    }

EXPLICIT(forward_euler_m)
EXPLICIT(rk4)

/* IMIDM; returns the number of Newton corrections, or -1. */
static inline __attribute__((always_inline)) long midpoint(
    vector (*torque)(quaternion, double), long steps, double h, state *start,
    const vector *inverse, double strength) {
    const double rounding = 1.1102230246251565e-16;
    state s = *start;
    vector a = *inverse, rate1 = scale(a, s.m), rate2 = rate1, rate3 = rate1;
    long iterations = 0;
    for (long i = 0; i < steps; i++) {
        vector psi = {h * (3.0 * (rate1.x - rate2.x) + rate3.x),
                      h * (3.0 * (rate1.y - rate2.y) + rate3.y),
                      h * (3.0 * (rate1.z - rate2.z) + rate3.z)};
        double last = 0.0;
        int done = 0, count = 0;
        while (!done && count < 50) {
            turn e = exp1(multiply(0.5, psi));
            vector m = turned_back(e, s.m), n = torque(product1(s.q, e), strength);
            vector residual = add_scaled(psi, -h, scale(a, add_scaled(m, h / 2, n)));
            rows j = turned_back_jacobian(multiply(0.5, psi), m);
            vector change = solve3(euler_newton_rows(h / 2, a, j), residual);
            psi = subtract(psi, change);
            double size = dot(change, change);
            double least = rounding * rounding * dot(psi, psi);
            done = size * size <= least * (size < last ? last : (last == 0.0 ? 64.0 * 64.0 : 4096.0 * 4096.0) * size);
            last = size;
            count++;
        }
        iterations += count;
        if (!done) return -1;
        turn e = exp1(multiply(0.5, psi));
        vector n = turned_back(e, torque(product1(s.q, e), strength));
        turn twice = {-2.0 * dot(e.v, e.v), multiply(fma(2.0, e.c1, 2.0), e.v)};
        state new = {product1(s.q, twice), add_scaled(turned_back(twice, s.m), h, n)};
        if (!all_finite(new)) return -1;
        s = new;
        rate3 = rate2;
        rate2 = rate1;
        rate1 = multiply(1.0 / h, psi);
    }
    *start = s;
    return iterations;
}

long imidm(long steps, double h, state *start, const vector *inverse, double strength) {
    return midpoint(torque, steps, h, start, inverse, strength);
}

long imidm_plain(long steps, double h, state *start, const vector *inverse, double strength) {
    return midpoint(plain_torque, steps, h, start, inverse, strength);
}
