// SPDX-License-Identifier: Apache-2.0
// Mipmaps: explicit levels, bias, clamps, both filters between levels; reads without a level; sizes of levels.
#include "texture.h"
using namespace program;

__global__ void at_level(float* out, const float4* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2DLod<float>(t, at[i].x, at[i].y, at[i].z * 6);
}
__global__ void no_level(float* out, const float4* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(t, at[i].x, at[i].y);
}
__global__ void at_level_3d(float* out, const float4* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex3DLod<float>(t, at[i].x, at[i].y, at[i].w, at[i].z * 4);
}
__global__ void by_integers(float* out, const float4* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int x = static_cast<int>(at[i].x * 32), y = static_cast<int>(at[i].y * 32), level = static_cast<int>(at[i].z * 4);
  float r, g, b, a;
  asm volatile("tex.level.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}], %7;"
               : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(t), "r"(x), "r"(y), "r"(level));
  out[i] = r + 10 * g + 100 * b + 1000 * a;
}
// Gradients along the axes: the level is their length's logarithm, where hardware's approximation cannot matter.
__global__ void by_gradients(float* out, const float4* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float step = exp2f(-1.0f - static_cast<float>(i % 6));
  if (i < n) out[i] = tex2DGrad<float>(t, at[i].x, at[i].y, make_float2(step, 0), make_float2(0, step / 4));
}

template <typename T>
cudaMipmappedArray_t pyramid(const std::vector<T>& texels, int w, int h, int d, unsigned levels) {
  cudaMipmappedArray_t m;
  const auto desc = cudaCreateChannelDesc<T>();
  MUST(cudaMallocMipmappedArray(&m, &desc, make_cudaExtent(w, h, d), levels));
  size_t at = 0;
  for (unsigned l = 0; l < levels; ++l) {
    cudaArray_t a;
    MUST(cudaGetMipmappedArrayLevel(&a, m, l));
    const int lw = w >> l, lh = h >> l, ld = d ? d >> l : 0;
    cudaMemcpy3DParms p{};
    p.srcPtr = make_cudaPitchedPtr(const_cast<T*>(texels.data() + at), lw * sizeof(T), lw, lh);
    p.dstArray = a;
    p.extent = make_cudaExtent(lw, lh, ld ? ld : 1);
    p.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&p));
    at += static_cast<size_t>(lw) * lh * (ld ? ld : 1);
  }
  return m;
}

int main() {
  const auto at = points(2000, -0.3f, 1.3f, 1);
  const auto flat = pyramid(floats(32 * 32 * 2, 2), 32, 32, 0, 6);
  const auto bytes = pyramid(texels<unsigned char>(32 * 32 * 2, 3), 32, 32, 0, 6);
  const auto solid = pyramid(floats(16 * 16 * 16 * 2, 4), 16, 16, 16, 4);
  for (int linear = 0; linear < 2; ++linear)
    for (int between = 0; between < 2; ++between)
      for (int clamps = 0; clamps < 3; ++clamps) {
        TextureKind k;
        k.address = cudaAddressModeWrap;
        k.filter = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        k.normalized = true;
        cudaTextureDesc d = describe(k);
        d.mipmapFilterMode = between ? cudaFilterModeLinear : cudaFilterModePoint;
        d.minMipmapLevelClamp = clamps == 1 ? 0.8f : 0;
        d.maxMipmapLevelClamp = clamps == 2 ? 3.3f : 5;
        d.mipmapLevelBias = clamps == 0 ? 0 : clamps == 1 ? 0.6f : -0.7f;
        char name[64];
        auto run = [&](const char* what, cudaMipmappedArray_t m, void (*kernel)(float*, const float4*, int, cudaTextureObject_t)) {
          cudaResourceDesc r{};
          r.resType = cudaResourceTypeMipmappedArray;
          r.res.mipmap.mipmap = m;
          cudaTextureObject_t t;
          MUST(cudaCreateTextureObject(&t, &r, &d, nullptr));
          std::snprintf(name, sizeof name, "%s, filter %d, between levels %d, clamps %d", what, linear, between, clamps);
          show(name, over(kernel, at, t));
        };
        run("level", flat, at_level);
        run("none", flat, no_level);
        run("3d", solid, at_level_3d);
        if (!clamps && !between) run("gradients", flat, by_gradients);
        if (!linear && !between && !clamps) run("integers", flat, by_integers);
        d.readMode = cudaReadModeNormalizedFloat;
        run("bytes", bytes, at_level);
      }
  return finish();
}
