/* A splitting of the Kirchhoff equations with diagonal inertias, and the section p_z = 0: rising zeros, and pairs within
   one step. STEP is the straight-line code of a step, LANES the trajectories side by side, H the step. */

#include <math.h>

#define ORDER 18

#if LANES == 1
typedef double V;
#define LANE(x, l) (x)
#else
typedef double V __attribute__((vector_size(8 * LANES)));
#define LANE(x, l) ((x)[l])
#endif

typedef struct { V P[3], p[3]; } State;

static inline __attribute__((always_inline)) void step(State *y) {
    V X = y->P[0], Y = y->P[1], Z = y->P[2], p = y->p[0], q = y->p[1], r = y->p[2];
    V u, s, c, d, e, f, k, m, n;
    STEP
    y->P[0] = X, y->P[1] = Y, y->P[2] = Z, y->p[0] = p, y->p[1] = q, y->p[2] = r;
}

/* The Taylor coefficients of (Pi, p) from a state on. */
static void jet(double a[6][ORDER + 1], const double *I, const double *M) {
    double w[3], v[3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        w[i] = 1 / I[k] - 1 / I[j], v[i] = 1 / M[k] - 1 / M[j];
    }
    for (int n = 0; n < ORDER; n++) {
        double f[6] = {0};
        for (int l = 0; l <= n; l++)
            for (int i = 0; i < 3; i++) {
                int j = (i + 1) % 3, k = (i + 2) % 3;
                f[i] += w[i] * a[j][l] * a[k][n - l] + v[i] * a[3 + j][l] * a[3 + k][n - l];
                f[3 + i] += a[3 + j][l] * a[k][n - l] / I[k] - a[3 + k][l] * a[j][n - l] / I[j];
            }
        for (int i = 0; i < 6; i++) a[i][n + 1] = f[i] / (n + 1);
    }
}

static double value(const double *a, double t, double *slope) {
    double x = a[ORDER], dx = 0;
    for (int n = ORDER - 1; n >= 0; n--) dx = dx * t + x, x = x * t + a[n];
    *slope = dx;
    return x;
}

/* A zero of p_z, or of its rate, between two times: Newton's method in a bracket. */
static double zero(const double *a, int of_rate, double low, double high, int rising) {
    double rates[ORDER + 1], t = 0.5 * (low + high);
    const double *g = a;
    if (of_rate) {
        for (int n = 0; n < ORDER; n++) rates[n] = (n + 1) * a[n + 1];
        rates[ORDER] = 0, g = rates;
    }
    for (int n = 0; n < 60; n++) {
        double slope, x = value(g, t, &slope), next = t - x / slope;
        if ((x >= 0) == rising) high = t; else low = t;
        if (!(next >= low && next <= high)) next = 0.5 * (low + high);
        double change = fabs(next - t);
        t = next;
        if (change < 1e-15) break;
    }
    return t;
}

static void land(double a[6][ORDER + 1], double t, double *found) {
    double slope;
    for (int i = 0; i < 6; i++) found[i] = value(a[i], t, &slope);
}

static void from(double a[6][ORDER + 1], const State *y, int l) {
    for (int i = 0; i < 3; i++) a[i][0] = LANE(y->P[i], l), a[3 + i][0] = LANE(y->p[i], l);
}

static inline V rate(const State *y, const double *I) { return y->p[0] * y->P[1] / I[1] - y->p[1] * y->P[0] / I[0]; }

/* What there is between two nodes in one lane. */
static __attribute__((noinline)) long look(const State *x, const State *y, int l, const double *I, const double *M,
                                           double *found) {
    double a[6][ORDER + 1], before = LANE(x->p[2], l), after = LANE(y->p[2], l), slope;
    double comes = LANE(rate(x, I), l), goes = LANE(rate(y, I), l);
    if (before < 0 && after >= 0) {
        int end = fabs(after) * fabs(comes) < fabs(before) * fabs(goes);
        from(a, end ? y : x, l);
        jet(a, I, M);
        land(a, end ? zero(a[5], 0, -H, 0, 1) : zero(a[5], 0, 0, H, 1), found);
        return 1;
    }
    if (!(before * after > 0 && before * comes < 0 && after * goes > 0)) return 0;
    if (!(fabs(before * goes) + fabs(after * comes) < fabs(H * comes * goes))) return 0;
    from(a, x, l);
    jet(a, I, M);
    double turn = zero(a[5], 1, 0, H, before < 0 ? 0 : 1);
    if ((value(a[5], turn, &slope) < 0) == (before < 0)) return 0;
    land(a, before < 0 ? zero(a[5], 0, 0, turn, 1) : zero(a[5], 0, turn, H, 1), found);
    return 1;
}

/* `found` has room for the crossings of each lane, one lane after the other; `count` says how many there are. */
void run(double *start, const double *I, const double *M, long steps, double *found, long room, long *count) {
    State y;
    for (int i = 0; i < 3; i++)
        for (int l = 0; l < LANES; l++) LANE(y.P[i], l) = start[i * LANES + l], LANE(y.p[i], l) = start[(3 + i) * LANES + l];
    for (int l = 0; l < LANES; l++) count[l] = 0;
    V slope = rate(&y, I);
    for (long n = 0; n < steps; n++) {
        State x = y;
        V comes = slope;
        step(&y);
        slope = rate(&y, I);
        V a = x.p[2], b = y.p[2];
#if LANES == 1
        if ((a < 0 && b >= 0) || (a * b > 0 && comes * slope < 0)) {
            if (count[0] < room) count[0] += look(&x, &y, 0, I, M, found + 6 * count[0]);
        }
#else
        __typeof__(a < b) met = ((a < 0) & (b >= 0)) | ((a * b > 0) & (comes * slope < 0));
        long any = 0;
        for (int l = 0; l < LANES; l++) any |= met[l];
        if (any)
            for (int l = 0; l < LANES; l++)
                if (met[l] && count[l] < room)
                    count[l] += look(&x, &y, l, I, M, found + 6 * (l * room + count[l]));
#endif
    }
}
