/* Fast Lie-Verlet for the Kirchhoff equations by hand: -DW=1 is one trajectory, -DW=2, 4 or 8 as many in vector lanes.

   With w = (h/2) I^-1 Pi_k, u = (h/2) M^-1 p_k and C = cay(w)^-1 up to the factor 1 + |w|^2:
       p_{k+1}  = C (p_{k-1} - w x (2 p_k + p_{k-1})) / (1 + |w|^2)
       Pi_{k+1} = C (Pi_{k-1} - w x (2 Pi_k + Pi_{k-1}) - u x (p_{k+1} + 2 p_k + p_{k-1})) / (1 + |w|^2)
   One division a step; the compiler contracts products and sums. */

#if W == 1
typedef double real;
#else
typedef double real __attribute__((vector_size(8 * W), aligned(8)));
#endif

typedef struct { real x, y, z; } vec;

static inline vec add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vec sub(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vec scale(real s, vec a) { return (vec){s * a.x, s * a.y, s * a.z}; }
static inline real dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline vec cross(vec a, vec b)
{
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline vec turned(vec w, vec b, real r) { return scale(r, sub(add(b, scale(dot(w, b), w)), cross(w, b))); }
static inline vec by(const double *d, vec a) { return (vec){d[0] * a.x, d[1] * a.y, d[2] * a.z}; }

/* state: for each group of W trajectories Pi_{k-1}, p_{k-1}, Pi_k, p_k, lanes side by side. */
void run(double *state, const double *inertia, const double *mass, double h, long steps, long first, long last)
{
    double a[3], b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = 0.5 * h / inertia[i];
        b[i] = 0.5 * h / mass[i];
    }
    for (long group = first; group < last; group++) {
        vec *s = (vec *)(state + 12 * W * group);
        vec P0 = s[0], p0 = s[1], P1 = s[2], p1 = s[3];
        for (long k = 0; k < steps; k++) {
            vec w = by(a, P1), u = by(b, p1);
            real r = 1.0 / (1.0 + dot(w, w));
            vec q = add(add(p1, p1), p0), Q = add(add(P1, P1), P0);
            vec p2 = turned(w, sub(p0, cross(w, q)), r);
            vec P2 = turned(w, sub(sub(P0, cross(w, Q)), cross(u, add(p2, q))), r);
            P0 = P1, p0 = p1, P1 = P2, p1 = p2;
        }
        s[0] = P0, s[1] = p0, s[2] = P1, s[3] = p1;
    }
}
