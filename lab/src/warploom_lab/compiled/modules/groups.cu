// needs sm_75
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void sums(int* out, const int* in, unsigned* barrier) {
    auto block = cg::this_thread_block(); auto warp = cg::tiled_partition<32>(block);
    auto tile = cg::tiled_partition<8>(warp); int v = in[block.thread_rank()];
    int s = cg::reduce(tile, v, cg::plus<int>()); int p = cg::inclusive_scan(warp, v);
    auto active = cg::coalesced_threads(); if (active.thread_rank() == 0) atomicAdd(out, s);
    block.sync(); out[block.thread_rank()] = p + tile.shfl_xor(v, 3) + warp.any(v > 3);
    cg::this_grid().sync(); out[0] = warp.match_any(v);
}
