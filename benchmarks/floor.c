/* What one step of KOIL cannot do without, and nothing else: the arithmetic floor of this machine.
 *
 * A step needs the squared distances to 2N support vectors of d features, as many exponentials, the score (a scalar
 * product), and the k + 1 rows of the Gram matrix that keep the cached scores current. No choice of neighbours, no
 * buffers, no bookkeeping. Prints nanoseconds per example, the best of several repetitions.
 *
 * Of several kernels each has vectors of its own: all are scored, and the first so many learn, which are those rows.
 *
 *   cc -O3 -march=native -ffast-math floor.c -o floor -lm && ./floor 20 100 10
 *   ./floor 20 100 10 5000 16 5
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { QUERIES = 512, TILE = 64, MOST = 256 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

static double *numbers(long n, double scale) {
  double *values = aligned_alloc(64, (n * sizeof(double) + 63) / 64 * 64);
  for (long i = 0; i < n; i++) values[i] = scale * drand48();
  return values;
}

int main(int argc, char **argv) {
  if (argc < 4 || atol(argv[3]) > MOST)
    return fprintf(stderr, "usage: floor features budget neighbours [examples [kernels learning]]\n"), 2;
  const long d = atol(argv[1]), slots = 2 * atol(argv[2]), k = atol(argv[3]);
  const long examples = argc > 4 ? atol(argv[4]) : 50000;
  const long kernels = argc > 5 ? atol(argv[5]) : 1, learning = argc > 6 ? atol(argv[6]) : kernels;
  const double gamma = 1.0 / d, step = 1e-12;
  double *all_points = numbers(kernels * d * slots, 1.0), *restrict queries = numbers(QUERIES * d, 1.0);
  double *all_grams = numbers(kernels * slots * slots, 1.0), *all_weights = numbers(kernels * slots, 1e-3);
  double *all_cached = numbers(kernels * slots, 1e-3), *restrict row = numbers(slots, 0.0);
  double best = INFINITY, sink = 0.0;

  for (int repetition = 0; repetition < 7; repetition++) {
    const double began = seconds();
    for (long t = 0; t < examples; t++) {
      const double *x = queries + (t % QUERIES) * d;
      for (long m = 0; m < kernels; m++) {
        const double *restrict points = all_points + m * d * slots, *restrict gram = all_grams + m * slots * slots;
        const double *restrict weights = all_weights + m * slots;
        double *restrict cached = all_cached + m * slots;
        for (long i = 0; i < slots; i++) row[i] = 0.0;
        for (long j = 0; j < d; j++) {
          const double value = x[j];
          const double *feature = points + j * slots;
          for (long i = 0; i < slots; i++) row[i] += (feature[i] - value) * (feature[i] - value);
        }
        for (long i = 0; i < slots; i++) row[i] = exp(-gamma * row[i]);
        double score = 0.0;
        for (long i = 0; i < slots; i++) score += weights[i] * row[i];
        sink += score;
        if (m >= learning) continue;
        const double *others[MOST];
        for (long q = 0; q < k; q++) others[q] = gram + (t + q * (slots / k)) % slots * slots;
        /* the newcomer's row and k rows of the Gram matrix, in tiles, so that each cached score is touched once */
        for (long first = 0; first < slots; first += TILE) {
          const long width = slots - first < TILE ? slots - first : TILE;
          double moved[TILE];
          for (long i = 0; i < width; i++) moved[i] = cached[first + i] + step * score * row[first + i];
          for (long q = 0; q < k; q++) {
            const double *other = others[q] + first;
            for (long i = 0; i < width; i++) moved[i] += step * other[i];
          }
          for (long i = 0; i < width; i++) cached[first + i] = moved[i];
        }
      }
    }
    const double took = (seconds() - began) / examples * 1e9;
    if (took < best) best = took;
  }
  printf("%.1f\n", best);
  return sink == 0.123 || all_cached[0] == 0.456; /* keeps the results alive */
}
