// needs sm_75
__global__ void f(float* x, double* y) {
    int t = threadIdx.x; float a = x[t]; double b = y[t];
    x[t] = sinf(a) + powf(a, 2.3f) + erff(a) + tanhf(a) + __expf(a) + __fdividef(a, 3) + rsqrtf(a) + fmodf(a, 2);
    y[t] = cos(b) * log1p(b) + pow(b, 1.1) + tgamma(b) + cbrt(b) + fma(b, b, b) + __drcp_rn(b) + rint(b);
    if (isnan(a) || isinf(b)) x[t] = nanf(""); y[t + 1] = __longlong_as_double(0x7ff0000000000001ll);
}
