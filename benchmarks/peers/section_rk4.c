/* RK4 for the Kirchhoff equations with diagonal inertias; rising zeros of p_z by Henon's step: p_z as the variable. */

static void field(const double *y, const double *I, const double *M, double *f) {
    double a = y[0] / I[0], b = y[1] / I[1], c = y[2] / I[2];
    double u = y[3] / M[0], v = y[4] / M[1], w = y[5] / M[2];
    f[0] = y[1] * c - y[2] * b + y[4] * w - y[5] * v;
    f[1] = y[2] * a - y[0] * c + y[5] * u - y[3] * w;
    f[2] = y[0] * b - y[1] * a + y[3] * v - y[4] * u;
    f[3] = y[4] * c - y[5] * b;
    f[4] = y[5] * a - y[3] * c;
    f[5] = y[3] * b - y[4] * a;
}

/* One step of size h in time, or in p_z where `along` is set. */
static void step(double *y, const double *I, const double *M, double h, int along) {
    static const double part[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double k[6] = {0}, sum[6] = {0}, at[6];
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < 6; i++) at[i] = y[i] + part[stage] * h * k[i];
        field(at, I, M, k);
        double scale = along ? 1.0 / k[5] : 1.0;
        for (int i = 0; i < 6; i++) {
            k[i] *= scale;
            sum[i] += weight[stage] * k[i];
        }
    }
    for (int i = 0; i < 6; i++) y[i] += h * sum[i];
}

long run(double *y, const double *I, const double *M, double h, long steps, double *found, long room) {
    long count = 0;
    for (long n = 0; n < steps; n++) {
        double before = y[5];
        step(y, I, M, h, 0);
        if (before < 0 && y[5] >= 0 && count < room) {
            double *at = found + 6 * count++;
            for (int i = 0; i < 6; i++) at[i] = y[i];
            step(at, I, M, -at[5], 1);
        }
    }
    return count;
}
