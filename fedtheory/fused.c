/* All local steps of a round, for every run and participant: x <- x - eta_j (gradient(x) + shift + pull_j (x - anchor)).

   A participant's data stay in cache for all of its steps, and each step passes over them once: a chunk of samples gives
   its scores, the loss its slopes, and the chunk is added to the gradient while it is still near. Runs that share data go
   through them four at a time. Every sum has the same order for one run as for four, so a run is the same bit for bit
   whatever its batch. In float, with -DDOUBLE in double. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vectors.h"

enum { DATA, DENSE, DIAGONAL };
enum { SQUARE, LOGISTIC, LOG_COSH, PSEUDO_HUBER, HUBER, SOFTPLUS, SIGMOID, GEMAN, TANH_SQUARED, WELSCH,
       CAUCHY, COSINE, LINEAR };

/* what a round is about; a stride of 0 means that all runs share the array */
struct problem {
    int64_t runs, participants, clients, n, d, steps, kind, loss;
    const real *features, *targets, *share; /* (runs | 1, clients, n, d), (.., n), (.., n); for a quadratic A, c, nothing */
    const int64_t *counts, *chosen;         /* (runs | 1, clients); (runs, participants), or null for all in order */
    int64_t shared;                         /* whether the data have no axis of runs */
    real *x;                                /* (runs, participants, d), in and out */
    const real *shift, *anchor;             /* like x, or null; (runs, d) */
    const real *eta, *pull;                 /* (runs, steps); pull may be null */
    double ridge, alpha, scale, width;
    int64_t threads;
};

/* e^u, to a few units in the last place; a nan stays one */
static inline real power(real u)
{
    if (sizeof(real) == 8) {
        double t, z, r, s = u < -708 ? -708 : u > 709 ? 709 : u, p = 1.0 / 6227020800;
        int64_t bits;
        t = s * 1.4426950408889634 + 6755399441055744.0;
        z = t - 6755399441055744.0;
        r = (s - z * 6.93147180369123816490e-01) - z * 1.90821492927058770002e-10;
        p = p * r + 1.0 / 479001600; p = p * r + 1.0 / 39916800; p = p * r + 1.0 / 3628800; p = p * r + 1.0 / 362880;
        p = p * r + 1.0 / 40320; p = p * r + 1.0 / 5040; p = p * r + 1.0 / 720; p = p * r + 1.0 / 120;
        p = p * r + 1.0 / 24; p = p * r + 1.0 / 6; p = p * r + 0.5; p = p * r + 1; p = p * r + 1;
        memcpy(&bits, &t, 8);
        bits = (bits + 1023) << 52;
        memcpy(&t, &bits, 8);
        return p * t;
    } else {
        float t, z, r, s = u < -87 ? -87 : u > 88 ? 88 : u, p = 1.0f / 5040;
        int32_t bits;
        t = s * 1.44269504f + 12582912.0f;
        z = t - 12582912.0f;
        r = (s - z * 0.693145752f) - z * 1.42860677e-06f;
        p = p * r + 1.0f / 720; p = p * r + 1.0f / 120; p = p * r + 1.0f / 24; p = p * r + 1.0f / 6;
        p = p * r + 0.5f; p = p * r + 1; p = p * r + 1;
        memcpy(&bits, &t, 4);
        bits = (bits + 127) << 23;
        memcpy(&t, &bits, 4);
        return p * t;
    }
}

static inline real logistic(real u) { return 1 / (1 + power(-u)); }

static inline real tangent(real u) { return 1 - 2 / (1 + power(2 * u)); }

/* c[q] <- share times the derivative of the loss at the score c[q] */
static void slopes(const struct problem *p, const real *restrict b, const real *restrict share, real *restrict c)
{
    const real into = 1 / p->width, out = p->scale / p->width;
#define EACH(expression)                                                                                               \
    for (int q = 0; q < CHUNK; q++) {                                                                                  \
        const real u = (c[q] - b[q]) * into;                                                                           \
        c[q] = share[q] * (out * (expression));                                                                        \
    }                                                                                                                  \
    return
    switch (p->loss) {
    case LOGISTIC: /* of labels b and scores c */
        for (int q = 0; q < CHUNK; q++) c[q] = -share[q] * b[q] * logistic(-b[q] * c[q]);
        return;
    case LOG_COSH: EACH(tangent(u));
    case PSEUDO_HUBER: EACH(u / (sizeof(real) == 8 ? (real)sqrt(1 + u * u) : (real)sqrtf(1 + u * u)));
    case HUBER: EACH(u < -1 ? -1 : u > 1 ? 1 : u);
    case SOFTPLUS: EACH(logistic(u));
    case SIGMOID: EACH(logistic(u) * logistic(-u));
    case GEMAN: EACH(u / ((1 + u * u) * (1 + u * u)));
    case TANH_SQUARED: EACH(tangent(u) * (1 - tangent(u) * tangent(u)));
    case WELSCH: EACH(u * power(-u * u / 2));
    case CAUCHY: EACH(u / (1 + u * u));
    case COSINE: EACH(-sin(u));
    case LINEAR: EACH(1 + 0 * u);
    default: EACH(u);
    }
#undef EACH
}

#define REPEAT4(M) M(0) M(1) M(2) M(3)

/* scores of 8 or 4 rows with one model, or of 4 rows with 4 models; w vectors a row */
static inline void scores_of_8(const vec *restrict a, int64_t w, const vec *restrict x, real *restrict c)
{
    vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
    for (int64_t v = 0; v < w; v++) {
        const vec y = x[v];
        s0 = MADD(a[v], y, s0); s1 = MADD(a[w + v], y, s1); s2 = MADD(a[2 * w + v], y, s2); s3 = MADD(a[3 * w + v], y, s3);
        s4 = MADD(a[4 * w + v], y, s4); s5 = MADD(a[5 * w + v], y, s5);
        s6 = MADD(a[6 * w + v], y, s6); s7 = MADD(a[7 * w + v], y, s7);
    }
    totals(s0, s1, s2, s3, c);
    totals(s4, s5, s6, s7, c + 4);
}

static inline void scores_of_4(const vec *restrict a, int64_t w, const vec *restrict x, real *restrict c)
{
    vec s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int64_t v = 0; v < w; v++) {
        const vec y = x[v];
        s0 = MADD(a[v], y, s0); s1 = MADD(a[w + v], y, s1); s2 = MADD(a[2 * w + v], y, s2); s3 = MADD(a[3 * w + v], y, s3);
    }
    totals(s0, s1, s2, s3, c);
}

static inline void scores_of_4_by_4(const vec *restrict a, int64_t w, const vec *restrict x, int64_t far,
                                    real (*restrict c)[CHUNK])
{
#define START(r) vec s0##r = {0}, s1##r = {0}, s2##r = {0}, s3##r = {0};
#define STEP(r) { const vec y = x[r * far + v]; \
    s0##r = MADD(a0, y, s0##r); s1##r = MADD(a1, y, s1##r); s2##r = MADD(a2, y, s2##r); s3##r = MADD(a3, y, s3##r); }
#define END(r) totals(s0##r, s1##r, s2##r, s3##r, c[r]);
    REPEAT4(START)
    for (int64_t v = 0; v < w; v++) {
        vec a0 = a[v], a1 = a[w + v], a2 = a[2 * w + v], a3 = a[3 * w + v];
        HOLD(a0); HOLD(a1); HOLD(a2); HOLD(a3);
        REPEAT4(STEP)
    }
    REPEAT4(END)
#undef START
#undef STEP
#undef END
}

/* g += sum over the rows of c times the row, each entry in the order of the rows */
static inline void add_rows(const vec *restrict a, int64_t w, int64_t rows, const real *restrict c, vec *restrict g)
{
    int64_t v = 0;
    for (; v + 4 <= w; v += 4) {
        vec g0 = g[v], g1 = g[v + 1], g2 = g[v + 2], g3 = g[v + 3];
        for (int64_t q = 0; q < rows; q++) {
            const vec *row = a + q * w + v;
            const vec k = SPREAD(c[q]);
            g0 = MADD(row[0], k, g0); g1 = MADD(row[1], k, g1); g2 = MADD(row[2], k, g2); g3 = MADD(row[3], k, g3);
        }
        g[v] = g0; g[v + 1] = g1; g[v + 2] = g2; g[v + 3] = g3;
    }
    for (; v < w; v++) {
        vec one = g[v];
        for (int64_t q = 0; q < rows; q++) one = MADD(a[q * w + v], SPREAD(c[q]), one);
        g[v] = one;
    }
}

static inline void add_rows_4(const vec *restrict a, int64_t w, int64_t rows, real (*restrict c)[CHUNK], vec *restrict g,
                              int64_t far)
{
    int64_t v = 0;
    for (; v + 4 <= w; v += 4) {
#define START(r) vec *restrict h##r = g + r * far + v; \
    vec g0##r = h##r[0], g1##r = h##r[1], g2##r = h##r[2], g3##r = h##r[3];
#define STEP(r) { const vec k = SPREAD(c[r][q]); \
    g0##r = MADD(a0, k, g0##r); g1##r = MADD(a1, k, g1##r); g2##r = MADD(a2, k, g2##r); g3##r = MADD(a3, k, g3##r); }
#define END(r) h##r[0] = g0##r; h##r[1] = g1##r; h##r[2] = g2##r; h##r[3] = g3##r;
        REPEAT4(START)
        for (int64_t q = 0; q < rows; q++) {
            const vec *row = a + q * w + v;
            vec a0 = row[0], a1 = row[1], a2 = row[2], a3 = row[3];
            HOLD(a0); HOLD(a1); HOLD(a2); HOLD(a3);
            REPEAT4(STEP)
        }
        REPEAT4(END)
#undef START
#undef STEP
#undef END
    }
    for (; v < w; v++) {
        vec g0 = g[v], g1 = g[far + v], g2 = g[2 * far + v], g3 = g[3 * far + v];
        for (int64_t q = 0; q < rows; q++) {
            const vec one = a[q * w + v];
            g0 = MADD(one, SPREAD(c[0][q]), g0); g1 = MADD(one, SPREAD(c[1][q]), g1);
            g2 = MADD(one, SPREAD(c[2][q]), g2); g3 = MADD(one, SPREAD(c[3][q]), g3);
        }
        g[v] = g0; g[far + v] = g1; g[2 * far + v] = g2; g[3 * far + v] = g3;
    }
}

/* a copy of rows (n, d) as rows of w vectors, with zeros behind and below them up to a multiple of 4 rows; or the rows
   themselves where they are so already */
static const vec *packed(const real *from, int64_t n, int64_t d, int64_t w, vec *to)
{
    if (d == w * LANES && n % 4 == 0 && (uintptr_t)from % BYTES == 0) return (const vec *)from;
    real *out = (real *)to;
    memset(out + n * w * LANES, 0, (-n & 3) * w * sizeof(vec));
    for (int64_t i = 0; i < n; i++, out += w * LANES) {
        memcpy(out, from + i * d, d * sizeof(real));
        memset(out + d, 0, (w * LANES - d) * sizeof(real));
    }
    return to;
}

static void gradients(const struct problem *p, const vec *a, const vec *centre, int64_t n, int64_t w, const real *b,
                      const real *share, int tile, const vec *x, vec *moved, vec *g)
{
    const int64_t far = w;
    real c[TILE][CHUNK];
    if (p->kind != DATA) { /* A (x - c) */
        for (int r = 0; r < tile; r++)
            for (int64_t v = 0; v < w; v++) moved[r * w + v] = x[r * w + v] - centre[v];
        if (p->kind == DIAGONAL) {
            for (int r = 0; r < tile; r++)
                for (int64_t v = 0; v < w; v++) g[r * w + v] = a[v] * moved[r * w + v];
            return;
        }
        for (int64_t i = 0; i < n; i += 4)
            for (int r = 0; r < tile; r++) {
                scores_of_4(a + i * w, w, moved + r * w, c[0]);
                for (int q = 0; q < 4 && i + q < n; q++) ((real *)(g + r * w))[i + q] = c[0][q];
            }
        return;
    }
    memset(g, 0, tile * w * sizeof(vec));
    for (int64_t i = 0; i < n; i += CHUNK) {
        const int64_t left = (n - i + 3) & ~(int64_t)3, rows = left < CHUNK ? left : CHUNK;
        const vec *chunk = a + i * w;
        for (int64_t q = rows; q < CHUNK; q++)
            for (int r = 0; r < tile; r++) c[r][q] = 0;
        if (tile == 4)
            for (int64_t q = 0; q < rows; q += 4) {
                real four[TILE][CHUNK];
                scores_of_4_by_4(chunk + q * w, w, x, far, four);
                for (int r = 0; r < 4; r++) memcpy(c[r] + q, four[r], 4 * sizeof(real));
            }
        else {
            int64_t q = 0;
            for (; q + 8 <= rows; q += 8) scores_of_8(chunk + q * w, w, x, c[0] + q);
            if (q < rows) scores_of_4(chunk + q * w, w, x, c[0] + q);
        }
        for (int r = 0; r < tile; r++) slopes(p, b + i, share + i, c[r]);
        if (tile == 4) add_rows_4(chunk, w, rows, c, g, far);
        else add_rows(chunk, w, rows, c[0], g);
    }
}

/* all steps of participant k in the runs first .. first + tile - 1, whose data are those of run `first` */
static __attribute__((noinline NOCLONE)) void steps_of(const struct problem *p, int64_t k, int64_t first, int tile,
                                                    vec *scratch)
{
    const int64_t d = p->d, w = (d + LANES - 1) / LANES, data_run = p->shared ? 0 : first;
    const int64_t client = p->chosen ? p->chosen[first * p->participants + k] : k, at = data_run * p->clients + client;
    const int64_t n = p->kind == DATA ? p->counts[at] : p->kind == DENSE ? d : 1;
    vec *x = scratch, *g = x + TILE * w, *moved = g + TILE * w, *fixed = moved + TILE * w, *anchor = fixed + TILE * w;
    vec *centre = anchor + TILE * w, *rows = centre + w;
    real *b = (real *)(rows + w * ((p->n + 3) & ~(int64_t)3)), *share = b + p->n + CHUNK;
    const vec *a = packed(p->features + at * p->n * d, n, d, w, rows);

    memset(scratch, 0, (5 * TILE + 1) * w * sizeof(vec));
    if (p->kind == DATA) {
        memset(b, 0, 2 * (p->n + CHUNK) * sizeof(real));
        memcpy(b, p->targets + at * p->n, n * sizeof(real));
        memcpy(share, p->share + at * p->n, n * sizeof(real));
    } else
        memcpy(centre, p->targets + at * d, d * sizeof(real));
    for (int r = 0; r < tile; r++) {
        const int64_t mine = ((first + r) * p->participants + k) * d;
        memcpy(x + r * w, p->x + mine, d * sizeof(real));
        if (p->shift) memcpy(fixed + r * w, p->shift + mine, d * sizeof(real));
        if (p->pull) memcpy(anchor + r * w, p->anchor + (first + r) * d, d * sizeof(real));
    }
    for (int64_t j = 0; j < p->steps; j++) {
        if (k + 1 < p->participants) { /* the next participant's data, a part a step, towards this core */
            const int64_t other = p->chosen ? p->chosen[first * p->participants + k + 1] : k + 1;
            const char *next = (const char *)(p->features + (data_run * p->clients + other) * p->n * d);
            const int64_t size = n * d * sizeof(real);
            for (int64_t c = size * j / p->steps; c < size * (j + 1) / p->steps; c += 64) __builtin_prefetch(next + c, 0, 2);
        }
        gradients(p, a, centre, n, w, b, share, tile, x, moved, g);
        for (int r = 0; r < tile; r++) {
            vec *restrict to = x + r * w;
            const vec *restrict slope = g + r * w, *restrict more = fixed + r * w, *restrict home = anchor + r * w;
            const real eta = p->eta[(first + r) * p->steps + j], ridge = p->ridge, alpha = 2 * p->alpha;
            const real pull = p->pull ? p->pull[(first + r) * p->steps + j] : 0;
            for (int64_t v = 0; v < w; v++) {
                vec sum = slope[v];
                if (p->ridge) sum += ridge * to[v];
                if (p->alpha) sum += alpha * to[v] / ((1 + to[v] * to[v]) * (1 + to[v] * to[v]));
                if (p->shift) sum += more[v];
                if (p->pull) sum += pull * (to[v] - home[v]);
                to[v] -= eta * sum;
            }
        }
    }
    for (int r = 0; r < tile; r++)
        memcpy(p->x + ((first + r) * p->participants + k) * d, x + r * w, d * sizeof(real));
}

/* 0, or 1 if there was no memory */
int fused_steps(const struct problem *p)
{
    const int64_t w = (p->d + LANES - 1) / LANES, rows = (p->n + 3) & ~(int64_t)3;
    const size_t size = (w * (5 * TILE + 1 + rows) + 1) * sizeof(vec) + 2 * (p->n + CHUNK) * sizeof(real);
    const int together = p->shared && !p->chosen ? TILE : 1; /* runs that may look at the same data at once */
    const int64_t tiles = (p->runs + together - 1) / together, tasks = tiles * p->participants;
    int failed = 0;
#pragma omp parallel num_threads(p->threads)
    {
        vec *scratch = aligned_alloc(BYTES, (size + BYTES - 1) / BYTES * BYTES);
        if (!scratch) {
#pragma omp atomic write
            failed = 1;
        }
#pragma omp for schedule(static)
        for (int64_t task = 0; task < tasks; task++) {
            const int64_t first = task % tiles * together, left = p->runs - first;
            if (!scratch) continue;
            if (left >= together && together == TILE)
                steps_of(p, task / tiles, first, TILE, scratch);
            else
                for (int64_t r = 0; r < left && r < together; r++) steps_of(p, task / tiles, first + r, 1, scratch);
        }
        free(scratch);
    }
    return failed;
}

/* x <- x - matrix x + offset, round after round, for every run; matrix (runs | 1, d, d), offset (runs | 1, d), x (runs, d),
   out (rounds, runs, d). 0, or 1 if there was no memory. */
int map_rounds(int64_t runs, int64_t rounds, int64_t d, int64_t maps, int64_t offsets, const real *matrix,
               const real *offset, const real *x, real *out)
{
    const int64_t w = (d + LANES - 1) / LANES, padded = (d + 3) & ~(int64_t)3, far = w + 4;
    vec *scratch = aligned_alloc(BYTES, (TILE * far + padded * w) * sizeof(vec));
    if (!scratch) return 1;
    const vec *a = NULL;
    for (int64_t first = 0; first < runs;) {
        const int tile = maps == 1 && runs - first >= TILE ? TILE : 1;
        memset(scratch, 0, TILE * far * sizeof(vec));
        if (!a || maps > 1) a = packed(matrix + (maps > 1 ? first * d * d : 0), d, d, w, scratch + TILE * far);
        for (int r = 0; r < tile; r++) memcpy(scratch + r * far, x + (first + r) * d, d * sizeof(real));
        for (int64_t t = 0; t < rounds; t++) {
            real *to = out + (t * runs + first) * d, c[TILE][CHUNK];
            for (int64_t i = 0; i < d; i += 4) {
                if (tile == TILE) scores_of_4_by_4(a + i * w, w, scratch, far, c);
                else scores_of_4(a + i * w, w, scratch, c[0]);
                for (int r = 0; r < tile; r++) {
                    const real *from = (const real *)(scratch + r * far), *more = offset + (offsets > 1 ? first + r : 0) * d;
                    for (int q = 0; q < 4 && i + q < d; q++) to[r * d + i + q] = from[i + q] - c[r][q] + more[i + q];
                }
            }
            for (int r = 0; r < tile; r++) memcpy(scratch + r * far, to + r * d, d * sizeof(real));
        }
        first += tile;
    }
    free(scratch);
    return 0;
}
