// FlashInfer's normalisation by the root of the mean square, half precision.

#include <flashinfer/norm.cuh>

#include "host.h"

int main() {
    constexpr int rows = 19, columns = 1024;
    const Values in = normal<half>(rows * columns, 1), weights = normal<half>(columns, 2);
    Values expected(in.size());
    for (int i = 0; i < rows; ++i) {
        double sum = 0;
        for (int j = 0; j < columns; ++j) sum += double(in[i * columns + j]) * in[i * columns + j];
        for (int j = 0; j < columns; ++j)
            expected[i * columns + j] = float(in[i * columns + j] / std::sqrt(sum / columns + 1e-5) * weights[j]);
    }
    half* result = zeros<half>(in.size());
    check(flashinfer::norm::RMSNorm<half>(upload<half>(in), upload<half>(weights), result, rows, columns, columns,
                                          columns),
          "RMSNorm");
    return verdict(agrees("result", result, expected, 1e-3));
}
