/* FedAvg on least squares. A client's data stay in cache for all of its local steps, and each step passes over them once:
   a group of rows is used for the gradient as soon as its residuals are known. */
#include <string.h>

enum { GROUP = 5 }; /* rows whose sums run side by side; more do not fit the registers */

static void gradient(long n, long d, const real *restrict a, const real *restrict b, const real *restrict x, real *restrict g)
{
    long j = 0;
    memset(g, 0, d * sizeof(real));
    for (; j + GROUP <= n; j += GROUP, a += GROUP * d) {
        real r[GROUP] = {0};
#pragma omp simd reduction(+ : r)
        for (long c = 0; c < d; c++)
            for (int q = 0; q < GROUP; q++) r[q] += a[q * d + c] * x[c];
        for (int q = 0; q < GROUP; q++) r[q] -= b[j + q];
#pragma omp simd
        for (long c = 0; c < d; c++) {
            real sum = g[c];
            for (int q = 0; q < GROUP; q++) sum += r[q] * a[q * d + c];
            g[c] = sum;
        }
    }
    for (; j < n; j++, a += d) {
        real r = -b[j];
#pragma omp simd reduction(+ : r)
        for (long c = 0; c < d; c++) r += a[c] * x[c];
#pragma omp simd
        for (long c = 0; c < d; c++) g[c] += r * a[c];
    }
}

/* models: (rounds + 1, d) with the start in its first row; local: (m, 2, d) of scratch. */
void fedavg(long m, long n, long d, long steps, long rounds, const real *restrict a, const real *restrict b, real step,
            real *restrict models, real *restrict local)
{
    for (long t = 0; t < rounds; t++) {
        const real *now = models + t * d;
        real *next = models + (t + 1) * d;
#pragma omp parallel for schedule(static)
        for (long i = 0; i < m; i++) {
            real *restrict x = local + 2 * i * d, *restrict g = x + d;
            memcpy(x, now, d * sizeof(real));
            for (long k = 0; k < steps; k++) {
                gradient(n, d, a + i * n * d, b + i * n, x, g);
#pragma omp simd
                for (long c = 0; c < d; c++) x[c] -= step * g[c];
            }
        }
        memset(next, 0, d * sizeof(real));
        for (long i = 0; i < m; i++)
            for (long c = 0; c < d; c++) next[c] += local[2 * i * d + c];
        for (long c = 0; c < d; c++) next[c] /= m;
    }
}
