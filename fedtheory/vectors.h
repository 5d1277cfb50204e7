/* Vectors of the widest registers there are, their products and sums: what fused.c is written in. In float, with -DDOUBLE in
   double. */
#include <string.h>

#if defined(__AVX512F__)
#define BYTES 64
#define HOLD(v) __asm__("" : "+v"(v)) /* keep it in a register */
#elif defined(__AVX__)
#define BYTES 32
#define HOLD(v) __asm__("" : "+x"(v))
#else
#define BYTES 16
#define HOLD(v) (void)0
#endif
#ifdef __clang__
#define NOCLONE
#else
#define NOCLONE , noclone
#endif
#ifdef DOUBLE
typedef double real;
#define WIDTH (BYTES / 8)
#else
typedef float real;
#define WIDTH (BYTES / 4)
#endif
typedef real vec __attribute__((vector_size(BYTES), may_alias));

/* a b + c in one rounding where the machine has it, said outright: what a compiler makes of a product and a sum may differ
   from loop to loop, and with it a run in a batch from the run alone. Hence also -ffp-contract=off. */
#if defined(__AVX512F__) || (defined(__AVX__) && defined(__FMA__))
#include <immintrin.h>
#if defined(__AVX512F__)
#define NAME(operation, kind) _mm512_##operation##_##kind
#else
#define NAME(operation, kind) _mm256_##operation##_##kind
#endif
#ifdef DOUBLE
#define MADD(a, b, c) ((vec)NAME(fmadd, pd)(a, b, c))
#define SPREAD(k) ((vec)NAME(set1, pd)(k))
#else
#define MADD(a, b, c) ((vec)NAME(fmadd, ps)(a, b, c))
#define SPREAD(k) ((vec)NAME(set1, ps)(k))
#endif
#else
#if defined(__aarch64__) && defined(DOUBLE)
#include <arm_neon.h>
#define MADD(a, b, c) ((vec)vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b)))
#elif defined(__aarch64__)
#include <arm_neon.h>
#define MADD(a, b, c) ((vec)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b)))
#else
#define MADD(a, b, c) ((c) + (a) * (b))
#endif
static inline vec spread(real k)
{
    vec v;
    for (int l = 0; l < WIDTH; l++) v[l] = k;
    return v;
}
#define SPREAD(k) spread(k)
#endif

enum { LANES = WIDTH, CHUNK = 32, TILE = 4 };

/* c[q] <- the sum of the lanes of s_q, in the same order for every q */
static inline void totals(vec s0, vec s1, vec s2, vec s3, real *restrict c)
{
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define MIX __builtin_shufflevector
#if WIDTH == 16
    vec t = MIX(s0, s1, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
          + MIX(s0, s1, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    const vec u = MIX(s2, s3, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
                + MIX(s2, s3, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
    t = MIX(t, u, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
      + MIX(t, u, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
    t += MIX(t, t, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    t += MIX(t, t, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
#elif WIDTH == 8
    vec t = MIX(s0, s1, 0, 1, 2, 3, 8, 9, 10, 11) + MIX(s0, s1, 4, 5, 6, 7, 12, 13, 14, 15);
    const vec u = MIX(s2, s3, 0, 1, 2, 3, 8, 9, 10, 11) + MIX(s2, s3, 4, 5, 6, 7, 12, 13, 14, 15);
    t = MIX(t, u, 0, 1, 4, 5, 8, 9, 12, 13) + MIX(t, u, 2, 3, 6, 7, 10, 11, 14, 15);
    t += MIX(t, t, 1, 0, 3, 2, 5, 4, 7, 6);
#elif WIDTH == 4
    vec t = MIX(s0, s1, 0, 1, 4, 5) + MIX(s0, s1, 2, 3, 6, 7);
    const vec u = MIX(s2, s3, 0, 1, 4, 5) + MIX(s2, s3, 2, 3, 6, 7);
    t = MIX(t, u, 0, 2, 4, 6) + MIX(t, u, 1, 3, 5, 7);
#endif
#undef MIX
#if WIDTH >= 4
    for (int q = 0; q < 4; q++) c[q] = t[q * (WIDTH / 4)];
    return;
#endif
#endif
#endif
    const vec all[4] = {s0, s1, s2, s3};
    for (int q = 0; q < 4; q++) {
        real part[WIDTH];
        memcpy(part, all + q, sizeof part);
        for (int width = WIDTH / 2; width; width /= 2)
            for (int l = 0; l < width; l++) part[l] += part[l + width];
        c[q] = part[0];
    }
}
