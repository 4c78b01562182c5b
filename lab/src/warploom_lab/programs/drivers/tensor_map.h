// Tensor maps of matrices in row-major order, and launches of clusters.

#pragma once

#include <cuda.h>

#include "host.h"

inline CUtensorMap tensor_map(CUtensorMapDataType type, int bytes, const void* matrix, cuuint64_t rows,
                              cuuint64_t columns, cuuint32_t box_rows, cuuint32_t box_columns,
                              CUtensorMapSwizzle swizzle) {
    alignas(64) CUtensorMap map;
    const cuuint64_t dims[] = {columns, rows}, strides[] = {columns * bytes};
    const cuuint32_t box[] = {box_columns, box_rows}, steps[] = {1, 1};
    const CUresult status = cuTensorMapEncodeTiled(
        &map, type, 2, const_cast<void*>(matrix), dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    check(status ? cudaErrorInvalidValue : cudaSuccess, "cuTensorMapEncodeTiled");
    return map;
}

// Launch a kernel with clusters along x.
template <typename... Parameters, typename... Values>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, int cluster, size_t shared, Values... values) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "cudaFuncSetAttribute");
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster, attribute.val.clusterDim.y = 1, attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared;
    config.attrs = &attribute, config.numAttrs = 1;
    check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(values)...), "cudaLaunchKernelEx");
}
