namespace demo {

template <typename T, int N>
struct Tile {
  T data[N];
  __device__ __forceinline__ void store(int i, T value) { data[i] = value; }
  __device__ __forceinline__ T load(int i) const { return data[i]; }
};

template <typename T, int N>
__device__ __forceinline__ T neighbour(Tile<T, N>& tile, int i, T value) {
  tile.store(i, value);
  // A __syncthreads() is missing here.
  return tile.load((i + 32) % N);
}

template <typename T, int N>
__global__ void rotate(const T* in, T* out) {
  __shared__ Tile<T, N> tile;
  int i = threadIdx.x;
  out[i] = neighbour(tile, i, in[i]);
}

template __global__ void rotate<float, 128>(const float*, float*);

}  // namespace demo
