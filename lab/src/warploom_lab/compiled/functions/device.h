// Names of CUDA that clang's builtins implement, without the headers of a CUDA toolkit.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __grid_constant__ __attribute__((grid_constant))
#define X(name) __nvvm_read_ptx_sreg_##name()
#define THREAD X(tid_x)
#define INDEX (X(ctaid_x) * X(ntid_x) + X(tid_x))
#define SYNC __syncthreads()
#define KERNEL extern "C" __global__ void
typedef unsigned long long u64;
