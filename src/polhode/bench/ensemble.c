/* Many heavy tops by mr2, in explicit vectors of WIDTH bodies, and one after the other with libm.

   A block holds LANES bodies; slot c of body l of a block is block[LANES c + l].  Slots: q (4), m (3),
   inverse moments (3), strength, torque (3).

   same_operations    operation by operation as the library's step of one body, every fused
                      multiply-add is written: with -ffp-contract=off its results are the library's,
                      bit for bit
   same_in_two_threads
                      the same, by two threads
   same_short         as its quick lanes, which know no turn of more than a whole one: the same bits
   fastest            what may be dropped is dropped: kicks merged, the sign of q lost (half turns
                      instead of whole ones), factors of a run made once, no kick of m3
   fastest_short      the same, and no turn of more than half a turn of the half angle
   one_after_another  the natural loop over bodies, sine and cosine by libm

   All take `steps` steps of `h` and leave the new state, and its torque, in place. */

#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <string.h>
#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

#ifndef WIDTH
#define WIDTH 16
#endif
#ifndef LANES
#define LANES 80
#endif
#define SLOTS 14
#define INLINE static inline __attribute__((always_inline))

typedef double wide __attribute__((vector_size(8 * WIDTH)));

/* ---- what vectors have no operator for, in pieces of what the machine has */
#if defined(__AVX512F__) && WIDTH >= 8
#define PIECE 8
typedef __m512d piece;
#define FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define RINT(a) _mm512_roundscale_pd(a, 8)
#elif defined(__AVX2__) && defined(__FMA__)
#define PIECE 4
typedef __m256d piece;
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define RINT(a) _mm256_round_pd(a, 8)
#else
#define PIECE 1
typedef double piece;
#define FMA(a, b, c) __builtin_fma(a, b, c)
#define RINT(a) __builtin_rint(a)
#endif

typedef union { wide whole; piece pieces[WIDTH / PIECE]; } both;

INLINE wide fused(wide a, wide b, wide c) {
    both x = {a}, y = {b}, z = {c}, r;
    for (int i = 0; i < WIDTH / PIECE; i++) r.pieces[i] = FMA(x.pieces[i], y.pieces[i], z.pieces[i]);
    return r.whole;
}

INLINE wide nearest(wide a) {
    both x = {a}, r;
    for (int i = 0; i < WIDTH / PIECE; i++) r.pieces[i] = RINT(x.pieces[i]);
    return r.whole;
}

INLINE wide all(double a) { return a - (wide){}; }

INLINE wide load(const double *at) {
    wide a;
    memcpy(&a, at, sizeof a);
    return a;
}

INLINE void store(double *at, wide a) { memcpy(at, &a, sizeof a); }

/* ---- the same operations */
#define F(a, b, c) fused(a, b, c)

/* NaN if the angle is longer than a step's should be: then the library takes other steps */
INLINE wide if_short(wide z, wide a) {
    typedef long long whole __attribute__((vector_size(8 * WIDTH)));
    const whole is = z < all(9.8);  /* all bits set, or none */
    return (wide)((whole)a | ~is);
}

INLINE void sincos1(wide a, int is_short, wide *s, wide *c) {
    wide r = a;
    if (!is_short) {
        wide k = nearest(a * 0.15915494309189535);
        r = F(-k, all(2.4492935982947064e-16), F(-k, all(6.283185307179586), a));
    }
    wide z = r * r, z2 = z * z, z4 = z2 * z2, cube = r * z;
    wide p = F(z4,
               F(z2, F(z, all(4.167841914273055e-20), all(-4.665508828117721e-17)),
                 F(z, all(3.920648753086607e-14), all(-2.4464948844424267e-11))),
               F(z2, F(z, all(1.07645778199847e-08), all(-3.1001984126960884e-06)),
                 F(z, all(0.0005208333333333322), all(-0.041666666666666664))));
    wide q = F(z4,
               F(z2, F(z, all(-5.80543472999435e-22), all(7.290462658750289e-19)),
                 F(z, all(-7.001167152596309e-16), all(5.096864404961478e-13))),
               F(z2, F(z, all(-2.691144455231285e-10), all(9.688120039679628e-08)),
                 F(z, all(-2.1701388888888876e-05), all(0.0026041666666666665))));
    wide s2 = F(is_short ? if_short(z, cube) : cube, p, r), c1 = z * F(z, q, all(-0.125));
    *s = F(s2, c1, s2);
    *c = -0.5 * (s2 * s2);
}

#define TURN(a, b, s, c1)                                              \
    {                                                                  \
        wide old = a;                                                  \
        a = F(c1, a, F(s, b, a));                                      \
        b = F(c1, b, F(-(s), old, b));                                 \
    }

/* the body turned about an axis by twice `half`; the others in cyclic order */
INLINE void turn(wide half, int is_short, wide *w, wide *x, wide *y, wide *z, wide *m2, wide *m3) {
    wide s, c1;
    sincos1(half, is_short, &s, &c1);
    TURN(*x, *w, s, c1)
    TURN(*y, *z, s, c1)
    wide twice = s + s, c2 = -(twice * s), s2 = F(twice, c1, twice);
    TURN(*m2, *m3, s2, c2)
}

INLINE void likewise(double *blocks, long count, long steps, double h, int is_short) {
    const wide half = all(h / 2), zero = all(0.0);
    for (long b = 0; b < count; b++) {
        double *block = blocks + b * SLOTS * LANES;
        for (long i = 0; i < steps; i++)
            for (int l = 0; l < LANES; l += WIDTH) {
                double *at = block + l;
#define SLOT(c) load(at + (c) * LANES)
                wide w = SLOT(0), x = SLOT(1), y = SLOT(2), z = SLOT(3);
                wide f1 = all(h / 4) * SLOT(7), f2 = all(h / 4) * SLOT(8), f3 = half * SLOT(9);
                wide strength = SLOT(10);
                wide m1 = F(half, SLOT(11), SLOT(4)), m2 = F(half, SLOT(12), SLOT(5));
                wide m3 = F(half, SLOT(13), SLOT(6));
                turn(f1 * m1, is_short, &w, &x, &y, &z, &m2, &m3);
                turn(f2 * m2, is_short, &w, &y, &z, &x, &m3, &m1);
                turn(f3 * m3, is_short, &w, &z, &x, &y, &m1, &m2);
                turn(f2 * m2, is_short, &w, &y, &z, &x, &m3, &m1);
                turn(f1 * m1, is_short, &w, &x, &y, &z, &m2, &m3);
                wide u1 = 2.0 * F(x, z, -(w * y)), u2 = 2.0 * F(y, z, w * x);
                wide t1 = strength * u2, t2 = -strength * u1, t3 = zero;
                store(at, w), store(at + LANES, x);
                store(at + 2 * LANES, y), store(at + 3 * LANES, z);
                store(at + 4 * LANES, F(half, t1, m1));
                store(at + 5 * LANES, F(half, t2, m2));
                store(at + 6 * LANES, F(half, t3, m3));
                store(at + 11 * LANES, t1), store(at + 12 * LANES, t2), store(at + 13 * LANES, t3);
            }
    }
}

void same_operations(double *blocks, long count, long steps, double h) {
    likewise(blocks, count, steps, h, 0);
}

/* the same by two threads, half of the blocks each */
struct half { double *blocks; long count, steps; double h; };

static void *one_half(void *given) {
    struct half *own = given;
    likewise(own->blocks, own->count, own->steps, own->h, 0);
    return 0;
}

void same_in_two_threads(double *blocks, long count, long steps, double h) {
    long first = (count + 1) / 2;
    struct half here = {blocks, first, steps, h};
    struct half there = {blocks + first * SLOTS * LANES, count - first, steps, h};
    pthread_t other;
    int alone = pthread_create(&other, 0, one_half, &there);
    one_half(&here);
    if (alone) one_half(&there);
    else pthread_join(other, 0);
}

void same_short(double *blocks, long count, long steps, double h) {
    likewise(blocks, count, steps, h, 1);
}

/* ---- the fastest */
/* sine and cosine of a modulo pi, with a common sign that is lost; a may be short already */
INLINE void sincos_half_turns(wide a, int is_short, wide *s, wide *c) {
    wide k = is_short ? all(0.0) : nearest(a * 0.31830988618379067154);
    wide r = is_short ? a : (a - k * 3.141592653589793116) - k * 1.2246467991473532e-16;
    wide z = r * r, z2 = z * z, z4 = z2 * z2;
    wide p = ((z * 0.008333333333333316 - 0.16666666666666666) +
              z2 * (z * 2.7557319219160833e-06 - 0.00019841269841254966)) +
             z4 * ((z * 1.6058977292642743e-10 - 2.505210761669045e-08) +
                   z2 * (z * 2.7314368769379893e-15 - 7.643969663988074e-13));
    wide q = ((z * -0.001388888888888888 + 0.041666666666666664) +
              z2 * (z * -2.755731922156836e-07 + 2.4801587301579848e-05)) +
             z4 * ((z * -1.1470712262813793e-11 + 2.0876756602722215e-09) +
                   z2 * (z * -1.5218598818596388e-16 + 4.77787760803859e-14));
    *s = r + (r * z) * p;
    *c = (1.0 - 0.5 * z) + z2 * q;
}

INLINE void quick_turn(wide half, int is_short, wide *w, wide *x, wide *y, wide *z, wide *m2,
                       wide *m3) {
    wide s, c, t;
    sincos_half_turns(half, is_short, &s, &c);
    wide s2 = 2.0 * s * c, c2 = 1.0 - 2.0 * s * s;
    t = *w * c - *x * s, *x = *x * c + *w * s, *w = t;
    t = *y * c + *z * s, *z = *z * c - *y * s, *y = t;
    t = *m2 * c2 + *m3 * s2, *m3 = *m3 * c2 - *m2 * s2, *m2 = t;
}

/* the torque is (slot 10) (u2, -u1, 0): kicks are of m1 and m2 alone */
#define KICK(f)                                            \
    {                                                      \
        m1 += (f) * (y * z + w * x);                       \
        m2 -= (f) * (x * z - w * y);                       \
    }

INLINE void kicks(double *block, double h) {
    for (int l = 0; l < LANES; l += WIDTH) {
        double *at = block + l;
        wide w = SLOT(0), x = SLOT(1), y = SLOT(2), z = SLOT(3), m1 = SLOT(4), m2 = SLOT(5);
        wide f = 2.0 * h * SLOT(10);
        KICK(f)
        store(at + 4 * LANES, m1), store(at + 5 * LANES, m2);
    }
}

INLINE void quickly(double *blocks, long count, long steps, double h, int is_short) {
    for (long b = 0; b < count; b++) {
        double *block = blocks + b * SLOTS * LANES;
        double factors[4 * LANES] __attribute__((aligned(64)));
        for (int l = 0; l < LANES; l++) {
            factors[l] = h / 4 * block[7 * LANES + l];
            factors[LANES + l] = h / 4 * block[8 * LANES + l];
            factors[2 * LANES + l] = h / 2 * block[9 * LANES + l];
            factors[3 * LANES + l] = 2.0 * h * block[10 * LANES + l];
        }
        kicks(block, h / 2);
        for (long i = 0; i < steps; i++)
            for (int l = 0; l < LANES; l += WIDTH) {
                double *at = block + l;
                wide w = SLOT(0), x = SLOT(1), y = SLOT(2), z = SLOT(3);
                wide m1 = SLOT(4), m2 = SLOT(5), m3 = SLOT(6);
                wide f1 = load(factors + l), f2 = load(factors + LANES + l);
                wide f3 = load(factors + 2 * LANES + l), f4 = load(factors + 3 * LANES + l);
                quick_turn(f1 * m1, is_short, &w, &x, &y, &z, &m2, &m3);
                quick_turn(f2 * m2, is_short, &w, &y, &z, &x, &m3, &m1);
                quick_turn(f3 * m3, is_short, &w, &z, &x, &y, &m1, &m2);
                quick_turn(f2 * m2, is_short, &w, &y, &z, &x, &m3, &m1);
                quick_turn(f1 * m1, is_short, &w, &x, &y, &z, &m2, &m3);
                KICK(f4)
                store(at, w), store(at + LANES, x);
                store(at + 2 * LANES, y), store(at + 3 * LANES, z);
                store(at + 4 * LANES, m1), store(at + 5 * LANES, m2), store(at + 6 * LANES, m3);
            }
        kicks(block, -h / 2);
    }
}

void fastest(double *blocks, long count, long steps, double h) {
    quickly(blocks, count, steps, h, 0);
}

void fastest_short(double *blocks, long count, long steps, double h) {
    quickly(blocks, count, steps, h, 1);
}

/* ---- one body after the other */
INLINE void libm_turn(double half, double *w, double *x, double *y, double *z, double *m2,
                      double *m3) {
    double s, c, t;
    sincos(half, &s, &c);
    double s2 = 2.0 * s * c, c2 = 1.0 - 2.0 * s * s;
    t = *w * c - *x * s, *x = *x * c + *w * s, *w = t;
    t = *y * c + *z * s, *z = *z * c - *y * s, *y = t;
    t = *m2 * c2 + *m3 * s2, *m3 = *m3 * c2 - *m2 * s2, *m2 = t;
}

void one_after_another(double *blocks, long count, long steps, double h) {
    for (long b = 0; b < count; b++)
        for (int l = 0; l < LANES; l++) {
            double *at = blocks + b * SLOTS * LANES + l;
#define ONE(c) at[(c) * LANES]
            double w = ONE(0), x = ONE(1), y = ONE(2), z = ONE(3);
            double m1 = ONE(4), m2 = ONE(5), m3 = ONE(6);
            double f1 = h / 4 * ONE(7), f2 = h / 4 * ONE(8), f3 = h / 2 * ONE(9);
            double f4 = 2.0 * h * ONE(10);
            KICK(0.5 * f4)
            for (long i = 0; i < steps; i++) {
                libm_turn(f1 * m1, &w, &x, &y, &z, &m2, &m3);
                libm_turn(f2 * m2, &w, &y, &z, &x, &m3, &m1);
                libm_turn(f3 * m3, &w, &z, &x, &y, &m1, &m2);
                libm_turn(f2 * m2, &w, &y, &z, &x, &m3, &m1);
                libm_turn(f1 * m1, &w, &x, &y, &z, &m2, &m3);
                KICK(f4)
            }
            KICK(-0.5 * f4)
            ONE(0) = w, ONE(1) = x, ONE(2) = y, ONE(3) = z, ONE(4) = m1, ONE(5) = m2, ONE(6) = m3;
        }
}
