// Program whose launches test captures: pointers in memory, variables, managed and pinned memory, clusters, tensor maps,
// cooperative grids, and atomics whose results depend on their order. The argument selects the launches.

#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t status = (call);                                                                                   \
        if (status) { fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status)); exit(3); }               \
    } while (0)

struct Node {
    Node *next;
    float *values;
    int count;
};

__constant__ float factors[4];
__device__ unsigned counter = 3;
__device__ Node *head;

__global__ void scale(float *values, int count, float addend) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] = values[i] * factors[i % 4] + addend;
    if (i == 0) counter += 1;
}

// Reverse a list, and scale the values of each node. The new order is in the variable `head`.
__global__ void reverse(Node *first) {
    __shared__ Node *shared_previous;
    Node *previous = nullptr;
    for (Node *node = first; node;) {
        for (int i = threadIdx.x; i < node->count; i += blockDim.x) node->values[i] *= 2;
        Node *next = node->next;
        __syncthreads();
        if (threadIdx.x == 0) node->next = previous, shared_previous = node;
        __syncthreads();
        previous = shared_previous, node = next;
    }
    if (threadIdx.x == 0) head = previous;
}

// Add floating-point numbers in any order.
__global__ void add(const float *values, int count, float *sum) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) atomicAdd(sum, values[i]);
}

// Move positive numbers to the front in any order.
__global__ void compact(const float *values, int count, float *result, unsigned *size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && values[i] > 0) result[atomicAdd(size, 1u)] = values[i];
}

__global__ void total(const int *values, int *partial, int *result) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    atomicAdd(&partial[blockIdx.x], values[blockIdx.x * blockDim.x + threadIdx.x]);
    grid.sync();
    if (grid.thread_rank() == 0)
        for (unsigned i = 0; i < gridDim.x; i++) *result += partial[i];
}

__global__ void __cluster_dims__(2, 1, 1) exchange(const int *values, int *result) {
    __shared__ int mine[32];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    mine[threadIdx.x] = values[blockIdx.x * 32 + threadIdx.x];
    cluster.sync();
    int *other = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    result[blockIdx.x * 32 + threadIdx.x] = other[threadIdx.x];
    cluster.sync();
}

// Copy a box of 8 by 32 numbers through shared memory.
__global__ void copy_box(const __grid_constant__ CUtensorMap map, float *result, int x, int y) {
    __shared__ alignas(128) float box[8 * 32];
    __shared__ alignas(8) uint64_t barrier;
    uint32_t bar = (uint32_t)__cvta_generic_to_shared(&barrier), target = (uint32_t)__cvta_generic_to_shared(box);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
        asm volatile("fence.proxy.async;");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(8 * 32 * 4));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(target), "l"(&map), "r"(x), "r"(y), "r"(bar) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; wait: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra wait; }" ::"r"(bar) : "memory");
    for (int i = threadIdx.x; i < 8 * 32; i += blockDim.x) result[i] = box[i];
}

static std::vector<float> numbers(int count) {
    std::vector<float> result(count);
    unsigned state = 12345;
    for (float &each : result) state = state * 1664525 + 1013904223, each = (int)(state >> 8) * 1e-6f - 8;
    return result;
}

static float *upload(const std::vector<float> &values) {
    float *result;
    CHECK(cudaMalloc(&result, values.size() * 4));
    CHECK(cudaMemcpy(result, values.data(), values.size() * 4, cudaMemcpyHostToDevice));
    return result;
}

template <typename T> static T *zeros(int count) {
    T *result;
    CHECK(cudaMalloc(&result, count * sizeof(T)));
    CHECK(cudaMemset(result, 0, count * sizeof(T)));
    return result;
}

static void run_scale() {
    float host[4] = {1, 0.1f, -3, 7};
    CHECK(cudaMemcpyToSymbol(factors, host, sizeof host));
    float *values = upload(numbers(1000));
    for (int i = 0; i < 3; i++) scale<<<4, 256>>>(values, 1000, i);
    float *managed, *pinned;
    CHECK(cudaMallocManaged(&managed, 512 * 4));
    CHECK(cudaMallocHost(&pinned, 512 * 4));
    for (int i = 0; i < 512; i++) managed[i] = pinned[i] = i;
    scale<<<2, 256>>>(managed, 512, 1);
    scale<<<2, 256>>>(pinned, 512, 2);
}

static void run_list() {
    std::vector<Node> host(5);
    Node *nodes = zeros<Node>(5);
    for (int i = 0; i < 5; i++) host[i] = {i < 4 ? nodes + i + 1 : nullptr, upload(numbers(10 + i)), 10 + i};
    CHECK(cudaMemcpy(nodes, host.data(), 5 * sizeof(Node), cudaMemcpyHostToDevice));
    reverse<<<1, 32>>>(nodes);
    Node *first;
    CHECK(cudaMemcpyFromSymbol(&first, head, sizeof first));
    reverse<<<1, 32>>>(first);
}

static void run_order() {
    float *values = upload(numbers(4096)), *sum = zeros<float>(1), *result = zeros<float>(4096);
    add<<<32, 128>>>(values, 4096, sum);
    compact<<<32, 128>>>(values, 4096, result, zeros<unsigned>(1));
}

static void run_grids() {
    std::vector<int> host(256);
    for (int i = 0; i < 256; i++) host[i] = i * i;
    int *values = zeros<int>(256), *partial = zeros<int>(4), *result = zeros<int>(256);
    CHECK(cudaMemcpy(values, host.data(), 1024, cudaMemcpyHostToDevice));
    void *arguments[] = {&values, &partial, &result};
    CHECK(cudaLaunchCooperativeKernel((void *)total, 4, 64, arguments));
    exchange<<<8, 32>>>(values, result);
}

static void run_boxes() {
    float *values = upload(numbers(64 * 64));
    void *entry;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
    CUtensorMap map;
    cuuint64_t extents[] = {64, 64}, strides[] = {256};
    cuuint32_t box[] = {32, 8}, steps[] = {1, 1};
    CUresult status = ((decltype(&cuTensorMapEncodeTiled))entry)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, values, extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status) exit(3);
    copy_box<<<1, 64>>>(map, zeros<float>(256), 16, 3);
    copy_box<<<1, 64>>>(map, zeros<float>(256), 48, 60); // beyond the end of the tensor
}

int main(int count, char **words) {
    struct { const char *name; void (*run)(); } parts[] = {
        {"scale", run_scale}, {"list", run_list}, {"order", run_order}, {"grids", run_grids}, {"boxes", run_boxes}};
    for (auto &part : parts)
        if (count < 2 || !strcmp(words[1], part.name)) part.run();
    CHECK(cudaDeviceSynchronize());
    printf("done\n");
}
