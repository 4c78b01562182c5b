// needs sm_75
__global__ void sample(cudaTextureObject_t t, cudaTextureObject_t t3, cudaSurfaceObject_t s, float4* out) {
    int i = threadIdx.x; float u = i * 0.1f;
    out[i] = tex2D<float4>(t, u, u + 1); out[i + 1].x = tex1Dfetch<float>(t, i);
    out[i + 2] = tex3D<float4>(t3, u, u, u); out[i + 3] = tex2DLod<float4>(t, u, u, 1.0f);
    out[i + 4] = tex2Dgather<float4>(t, u, u, 1); out[i + 5] = tex2DLayered<float4>(t3, u, u, 2);
    surf2Dwrite<float>(u, s, i * 4, 3); out[i + 6].x = surf2Dread<float>(s, i * 4, 2, cudaBoundaryModeClamp);
}
