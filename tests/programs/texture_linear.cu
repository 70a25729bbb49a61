// SPDX-License-Identifier: Apache-2.0
// Textures over linear and pitched memory, reads by integer coordinates.
#include "texture.h"
using namespace program;

template <typename T>
__global__ void fetch(T* out, const int* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<T>(t, at[i]);
}
__global__ void pitched(float* out, const float4* at, int n, cudaTextureObject_t t, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(t, at[i].x * scale, at[i].y * scale);
}
__global__ void texel_of_2d(float4* out, const int2* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 r;
  asm volatile("tex.2d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
               : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w) : "l"(t), "r"(at[i].x), "r"(at[i].y));
  out[i] = r;
}
__global__ void as_halves(uint2* out, const float4* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint2 r;
  asm volatile("tex.2d.v2.f16x2.f32 {%0, %1}, [%2, {%3, %4}];" : "=r"(r.x), "=r"(r.y) : "l"(t), "f"(at[i].x), "f"(at[i].y));
  out[i] = r;
}
__global__ void with_offset(float4* out, const float4* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 r;
  asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], {%7, %8};"
               : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w) : "l"(t), "f"(at[i].x), "f"(at[i].y), "r"(i % 16 - 8), "r"(i % 7 - 3));
  out[i] = r;
}
int main() {
  std::vector<int> at;
  for (int i = 0; i < 300; ++i) at.push_back(static_cast<int>(mix(i) % 260));
  auto linear = [&](const void* data, size_t bytes, cudaChannelFormatDesc format, bool normalized) {
    void* p;
    MUST(cudaMalloc(&p, bytes));
    MUST(cudaMemcpy(p, data, bytes, cudaMemcpyHostToDevice));
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear = {p, format, bytes};
    TextureKind k;
    k.read_normalized = normalized;
    const cudaTextureDesc d = describe(k);
    cudaTextureObject_t t;
    MUST(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
  };
  const auto f = floats(256, 1);
  const auto u4 = texels<uchar4>(256, 2);
  const auto s2 = texels<short2>(256, 3);
  show("linear f32", over(fetch<float>, at, linear(f.data(), 1024, cudaCreateChannelDesc<float>(), false)));
  show("linear u8x4", over(fetch<uchar4>, at, linear(u4.data(), 1024, cudaCreateChannelDesc<uchar4>(), false)));
  show("linear u8x4 as float", over(fetch<float4>, at, linear(u4.data(), 1024, cudaCreateChannelDesc<uchar4>(), true)));
  show("linear s16x2", over(fetch<short2>, at, linear(s2.data(), 1024, cudaCreateChannelDesc<short2>(), false)));

  const auto pixels = floats(50 * 30, 4);
  float* p;
  size_t pitch;
  MUST(cudaMallocPitch(&p, &pitch, 50 * 4, 30));
  MUST(cudaMemcpy2D(p, pitch, pixels.data(), 200, 200, 30, cudaMemcpyHostToDevice));
  for (int filter = 0; filter < 2; ++filter)
    for (int normalized = 0; normalized < 2; ++normalized) {
      cudaResourceDesc r{};
      r.resType = cudaResourceTypePitch2D;
      r.res.pitch2D = {p, cudaCreateChannelDesc<float>(), 50, 30, pitch};
      TextureKind k;
      k.filter = filter ? cudaFilterModeLinear : cudaFilterModePoint;
      k.normalized = normalized;
      const cudaTextureDesc d = describe(k);
      cudaTextureObject_t t;
      MUST(cudaCreateTextureObject(&t, &r, &d, nullptr));
      show("pitched", over(pitched, points(1000, -0.2f, 1.2f, 5), t, normalized ? 1.0f : 50.0f));
    }

  std::vector<int2> corners;
  for (int y = -2; y < 12; ++y)
    for (int x = -2; x < 18; ++x) corners.push_back({x, y});
  TextureKind k;
  const auto clamped = texture_of(floats(16 * 10, 6), 16, 10, 0, k);
  show("texels by integers", over(texel_of_2d, corners, clamped));
  k.address = cudaAddressModeBorder;
  show("texels by integers, border", over(texel_of_2d, corners, texture_of(floats(16 * 10, 6), 16, 10, 0, k)));
  k.address = cudaAddressModeWrap;
  k.normalized = true;
  k.filter = cudaFilterModeLinear;
  std::vector<float4> four(16 * 10);
  const auto parts = floats(4 * four.size(), 7);
  std::memcpy(four.data(), parts.data(), four.size() * sizeof(float4));
  const auto wrapped = texture_of(four, 16, 10, 0, k);
  show("as halves", over(as_halves, points(1000, -1, 2, 8), wrapped));
  show("with an offset", over(with_offset, points(1000, -1, 2, 9), wrapped));
  return finish();
}
