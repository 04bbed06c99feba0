/* RKN4 with six degrees of freedom, operation by operation as the library writes it.

   A body in principal axes on a spring: force = -stiffness (x + R point - anchor).  Every fused
   multiply-add is an fma() here and nowhere else, so that with -ffp-contract=off the results are the
   library's, bit for bit.  With -Ofast the compiler may do as it likes. */

#include <math.h>

typedef struct { double x, y, z; } vector;
typedef struct { double w, x, y, z; } quaternion;
typedef struct { quaternion q; vector m, x, p; } state;
typedef struct { quaternion q; vector x; } place;  /* also its rates of change */
typedef struct { double stiffness; vector anchor, point; } spring;
typedef struct { vector inertia, inverse; double mass, light; } body;

/* ---- vectors */
static inline vector add(vector a, vector b) { return (vector){a.x + b.x, a.y + b.y, a.z + b.z}; }

static inline vector subtract(vector a, vector b) {
    return (vector){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vector multiply(double f, vector a) { return (vector){f * a.x, f * a.y, f * a.z}; }

static inline vector scale(vector a, vector b) { return (vector){a.x * b.x, a.y * b.y, a.z * b.z}; }

static inline vector add_scaled(vector a, double f, vector b) {
    return (vector){fma(f, b.x, a.x), fma(f, b.y, a.y), fma(f, b.z, a.z)};
}

static inline vector cross(vector a, vector b) {
    return (vector){fma(a.y, b.z, -(a.z * b.y)), fma(a.z, b.x, -(a.x * b.z)),
                    fma(a.x, b.y, -(a.y * b.x))};
}

/* ---- quaternions */
static inline quaternion hamilton(quaternion p, quaternion q) {
    return (quaternion){
        fma(p.w, q.w, -fma(p.x, q.x, fma(p.y, q.y, p.z * q.z))),
        fma(p.w, q.x, fma(p.x, q.w, fma(p.y, q.z, -(p.z * q.y)))),
        fma(p.w, q.y, fma(p.y, q.w, fma(p.z, q.x, -(p.x * q.z)))),
        fma(p.w, q.z, fma(p.z, q.w, fma(p.x, q.y, -(p.y * q.x))))};
}

static inline quaternion half_rate(quaternion q, vector h) {
    return (quaternion){-fma(h.x, q.x, fma(h.y, q.y, h.z * q.z)),
                        fma(h.x, q.w, fma(h.z, q.y, -(h.y * q.z))),
                        fma(h.y, q.w, fma(h.x, q.z, -(h.z * q.x))),
                        fma(h.z, q.w, fma(h.y, q.x, -(h.x * q.y)))};
}

static inline double square(quaternion q) {
    return fma(q.w, q.w, fma(q.x, q.x, fma(q.y, q.y, q.z * q.z)));
}

static inline quaternion inverse(quaternion q) {
    double f = 1.0 / square(q);
    return (quaternion){f * q.w, -f * q.x, -f * q.y, -f * q.z};
}

static inline vector turned_back(double c1, vector v, vector m) {
    vector k = cross(v, m);
    k = add(k, k);
    return add(m, add_scaled(add_scaled(cross(v, k), -c1, k), -1.0, k));
}

static inline vector to_body(quaternion q, vector m) {
    return turned_back(q.w - 1.0, (vector){q.x, q.y, q.z}, m);
}

static inline vector to_inertial(quaternion q, vector m) {
    return turned_back(q.w - 1.0, (vector){-q.x, -q.y, -q.z}, m);
}

/* ---- Nystroem's formulas for q and x together */
static inline place moved(double f, place k, place y) {
    return (place){{fma(f, k.q.w, y.q.w), fma(f, k.q.x, y.q.x), fma(f, k.q.y, y.q.y),
                    fma(f, k.q.z, y.q.z)}, add_scaled(y.x, f, k.x)};
}

static inline place plus(place a, place b) {
    return (place){{a.q.w + b.q.w, a.q.x + b.q.x, a.q.y + b.q.y, a.q.z + b.q.z}, add(a.x, b.x)};
}

static inline vector momentum(place y, place d, const body *b, quaternion *u, vector *omega) {
    *u = hamilton(inverse(y.q), d.q);
    *omega = (vector){2.0 * u->x, 2.0 * u->y, 2.0 * u->z};
    return scale(b->inertia, *omega);
}

static inline place acceleration(place y, place d, const body *b, const spring *s) {
    quaternion u;
    vector omega, m = momentum(y, d, b, &u, &omega);
    vector way = subtract(add(y.x, to_inertial(y.q, s->point)), s->anchor);
    vector force = multiply(-s->stiffness, way), n = cross(s->point, to_body(y.q, force));
    vector rate = multiply(0.5, scale(b->inverse, subtract(n, cross(omega, m))));
    quaternion first = hamilton(d.q, u), second = half_rate(y.q, rate);
    return (place){{first.w + second.w, first.x + second.x, first.y + second.y,
                    first.z + second.z}, multiply(b->light, force)};
}

static inline int all_finite(state s) {
    double z = (s.q.w - s.q.w) + (s.q.x - s.q.x) + (s.q.y - s.q.y) + (s.q.z - s.q.z);
    z += (s.m.x - s.m.x) + (s.m.y - s.m.y) + (s.m.z - s.m.z);
    z += (s.x.x - s.x.x) + (s.x.y - s.x.y) + (s.x.z - s.x.z);
    return z + (s.p.x - s.p.x) + (s.p.y - s.p.y) + (s.p.z - s.p.z) == 0.0;
}

long rkn4(long steps, double h, state *start, const body *b, const spring *s) {
    state now = *start;
    for (long i = 0; i < steps; i++) {
        place y = {now.q, now.x};
        place d = {half_rate(now.q, multiply(0.5, scale(b->inverse, now.m))),
                   multiply(b->light, now.p)};
        double half = 0.5 * h, eighth = 0.125 * h * h;
        place k1 = acceleration(y, d, b, s);
        place middle = moved(eighth, k1, moved(half, d, y));
        place k2 = acceleration(middle, moved(half, k1, d), b, s);
        place k3 = acceleration(middle, moved(half, k2, d), b, s);
        place end = moved(0.5 * h * h, k3, moved(h, d, y));
        place k4 = acceleration(end, moved(h, k3, d), b, s);
        place inner = plus(k2, k3);
        place new = moved(h * h / 6.0, plus(k1, inner), moved(h, d, y));
        place rate = moved(h / 6.0, moved(2.0, inner, plus(k1, k4)), d);
        quaternion u;
        vector omega, m = momentum(new, rate, b, &u, &omega);
        double f = 1.0 / sqrt(square(new.q));
        state next = {{f * new.q.w, f * new.q.x, f * new.q.y, f * new.q.z}, m, new.x,
                      multiply(b->mass, rate.x)};
        if (!all_finite(next)) return -1;
        now = next;
    }
    *start = now;
    return 0;
}
