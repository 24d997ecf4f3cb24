"""What every module of CUDA C begins with: the operations that C has no word for.

Division has no slow path: a branch would keep the operations before it from mixing with those after it. So the
reciprocal comes from the machine's approximation and two steps of Newton, is shared by all quotients with one
denominator, and a remainder makes each quotient right to the last digit, or one beside it. Zeros, infinities and
not-a-numbers go as usual; a denominator below 2^-1022 counts as zero, one above 2^1022 as infinite.
"""

TEXT = r"""
#ifdef __CUDACC__
#define NAIAD_DEVICE static __device__ __forceinline__
NAIAD_DEVICE double near_inverse(double b) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
  return r;
}
#endif

NAIAD_DEVICE bool is_finite(double x) { return (__double2hiint(x) & 0x7ff00000) != 0x7ff00000; }

// the upper half of a double as a float, which is not finite if the double is not, or is beyond 2^1017; floats have
// processors of their own, so that their sum costs no double operation
NAIAD_DEVICE float upper(double x) { return __int_as_float(__double2hiint(x)); }
NAIAD_DEVICE bool is_finite_float(float x) { return fabsf(x) < __int_as_float(0x7f800000); }

NAIAD_DEVICE double inverse(double b) {
  const double near = near_inverse(b);
  double e = fma(-b, near, 1.0);
  double r = fma(near, e, near);
  e = fma(-b, r, 1.0);
  r = fma(r, e, r);
  return is_finite_float(upper(e)) ? r : near;
}

NAIAD_DEVICE double quotient(double a, double b, double r) {
  const double q = a * r, e = fma(-b, q, a);
  return is_finite_float(upper(e)) ? fma(e, r, q) : q;
}

// without its sign bit, by the half that has it: else the machine adds zero to it, a double operation
NAIAD_DEVICE double size_of(double x) {
  return __hiloint2double(__double2hiint(x) & 0x7fffffff, __double2loint(x));
}

NAIAD_DEVICE double larger(double a, double b) { return a > b || a != a ? a : b; }
NAIAD_DEVICE double smaller(double a, double b) { return a < b || a != a ? a : b; }

// of numbers without a sign bit, among which not-a-number is the largest: by integers, which cost no double operation
NAIAD_DEVICE double larger_size(double a, double b) {
  return __longlong_as_double(max(__double_as_longlong(a), __double_as_longlong(b)));
}

NAIAD_DEVICE double sign(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }

NAIAD_DEVICE long long to_int(double a) {
  return a != a ? 0 : a >= 0x1p63 ? 0x7fffffffffffffffLL : a < -0x1p63 ? -0x7fffffffffffffffLL - 1 : (long long)a;
}

NAIAD_DEVICE long long idiv(long long a, long long b) {
  return b == 0 ? -1 : b == -1 ? (long long)(0ULL - (unsigned long long)a) : a / b;
}
NAIAD_DEVICE long long irem(long long a, long long b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
NAIAD_DEVICE long long shl(long long a, long long b) {
  return (unsigned long long)b < 64 ? (long long)((unsigned long long)a << b) : 0;
}
NAIAD_DEVICE long long shr(long long a, long long b) { return a >> ((unsigned long long)b < 64 ? b : 63); }
"""
