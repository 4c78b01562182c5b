// CUDA runtime without a GPU. Memory and launches are callbacks into `device.py`, which uses the emulator.
//
// The library has the functions that the programs of `catalog.py` call, for one device with compute capability 9.0.
// Streams and events are accepted and ignored, because every operation completes before its function returns.

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

namespace {

struct Callbacks {
    unsigned long long (*allocate)(size_t size);
    int (*copy)(unsigned long long to, unsigned long long from, size_t size);
    int (*fill)(unsigned long long to, int value, size_t size);
    int (*encode)(void* map, int type, int rank, unsigned long long address, const cuuint64_t* dims,
                  const cuuint64_t* strides, const cuuint32_t* box, const cuuint32_t* element_strides, int interleave,
                  int swizzle, int promotion, int fill);
    void (*add_module)(const void* image);
    void (*add_kernel)(const void* function, const char* name);
    int (*launch)(const void* function, const unsigned* geometry, size_t shared, void** arguments);
};

Callbacks callbacks;
cudaError_t last_error = cudaSuccess;
constexpr int kMultiprocessors = 8;
constexpr int kSharedBytes = 227 * 1024;

struct Configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} pushed;

cudaError_t done(bool is_right, cudaError_t error) {
    if (!is_right) last_error = error;
    return is_right ? cudaSuccess : error;
}

cudaError_t run(const void* function, dim3 grid, dim3 block, dim3 cluster, size_t shared, void** arguments) {
    const unsigned geometry[] = {grid.x,  grid.y,    grid.z,    block.x,  block.y,
                                 block.z, cluster.x, cluster.y, cluster.z};
    return done(callbacks.launch(function, geometry, shared, arguments), cudaErrorLaunchFailure);
}

unsigned long long address(const void* pointer) { return reinterpret_cast<unsigned long long>(pointer); }

}  // namespace

extern "C" {

void install(const Callbacks* given) { callbacks = *given; }

// Modules and kernels ----------------------------------------------------------------------------------------------

void** __cudaRegisterFatBinary(void* wrapper) {
    callbacks.add_module(static_cast<void**>(wrapper)[1]);
    return static_cast<void**>(wrapper);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
    callbacks.add_kernel(function, name);
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
    return cudaSuccess;
}

// Launches ---------------------------------------------------------------------------------------------------------

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    pushed = {grid, block, shared, stream};
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
    *grid = pushed.grid, *block = pushed.block, *shared = pushed.shared;
    *static_cast<cudaStream_t*>(stream) = pushed.stream;
    return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t) {
    return run(function, grid, block, dim3(0, 0, 0), shared, arguments);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t) {
    return run(kernel, grid, block, dim3(0, 0, 0), shared, arguments);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
    dim3 cluster(0, 0, 0);
    for (unsigned i = 0; i < config->numAttrs; ++i)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) {
            const auto& given = config->attrs[i].val.clusterDim;
            cluster = dim3(given.x, given.y, given.z);
        }
    return run(function, config->gridDim, config->blockDim, cluster, config->dynamicSmemBytes, arguments);
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
    memset(attributes, 0, sizeof *attributes);
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 64;
    attributes->ptxVersion = attributes->binaryVersion = 90;
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, const void*, int, size_t, unsigned) {
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* count, const void*, int, size_t) {
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveClusters(int* count, const void*, const cudaLaunchConfig_t*) {
    *count = 1;
    return cudaSuccess;
}

// Memory -----------------------------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** pointer, size_t size) {
    *pointer = reinterpret_cast<void*>(callbacks.allocate(size));
    return cudaSuccess;
}
cudaError_t cudaFree(void*) { return cudaSuccess; }
cudaError_t cudaMemcpy(void* to, const void* from, size_t size, cudaMemcpyKind) {
    return done(callbacks.copy(address(to), address(from), size), cudaErrorInvalidValue);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpy(to, from, size, kind);
}
cudaError_t cudaMemset(void* to, int value, size_t size) {
    return done(callbacks.fill(address(to), value, size), cudaErrorInvalidValue);
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t size, cudaStream_t) { return cudaMemset(to, value, size); }

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream) {
    for (size_t i = 0; i < count; ++i) callbacks.copy(to + 4 * i, address(&value), 4);
    return CUDA_SUCCESS;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
    memset(attributes, 0, sizeof *attributes);
    attributes->type = cudaMemoryTypeDevice;
    attributes->devicePointer = const_cast<void*>(pointer);
    return cudaSuccess;
}

// Tensor maps ------------------------------------------------------------------------------------------------------

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* pointer,
                                const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
    const bool is_right = callbacks.encode(map, type, rank, address(pointer), dims, strides, box, element_strides,
                                           interleave, swizzle, promotion, fill);
    return is_right ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
    const bool is_known = !strcmp(name, "cuTensorMapEncodeTiled");
    *function = is_known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
    if (status) *status = is_known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
    return cudaGetDriverEntryPointByVersion(name, function, 0, flags, status);
}
CUresult cuGetErrorString(CUresult, const char** text) {
    *text = "error of the emulated driver";
    return CUDA_SUCCESS;
}

// Device -----------------------------------------------------------------------------------------------------------

cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, "emulated sm_90a");
    properties->major = 9;
    properties->multiProcessorCount = kMultiprocessors;
    properties->sharedMemPerBlockOptin = kSharedBytes;
    properties->sharedMemPerMultiprocessor = kSharedBytes + 1024;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->totalGlobalMem = 1ull << 33;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    *value = attribute == cudaDevAttrMultiProcessorCount             ? kMultiprocessors
             : attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin  ? kSharedBytes
             : attribute == cudaDevAttrComputeCapabilityMajor        ? 9
             : attribute == cudaDevAttrMaxThreadsPerBlock            ? 1024
             : attribute == cudaDevAttrWarpSize                      ? 32
                                                                     : 0;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDA_VERSION;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
cudaError_t cudaDeviceSynchronize() { return last_error; }
cudaError_t cudaGetLastError() {
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}
cudaError_t cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "error of the emulator"; }
const char* cudaGetErrorName(cudaError_t error) { return cudaGetErrorString(error); }

// Streams and events -----------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    *stream = nullptr;
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return last_error; }
cudaError_t cudaEventCreate(cudaEvent_t* event) {
    *event = nullptr;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return last_error; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
    *milliseconds = 1;
    return cudaSuccess;
}

}  // extern "C"
