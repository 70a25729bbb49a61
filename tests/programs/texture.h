// SPDX-License-Identifier: Apache-2.0
// Textures for the texture programs: arrays of random or counted texels behind texture objects.
#pragma once
#include <cuda_fp16.h>

#include "program.h"

namespace program {

struct TextureKind {
  cudaTextureAddressMode address = cudaAddressModeClamp;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  bool normalized = false, read_normalized = false, srgb = false;
};
inline cudaTextureDesc describe(const TextureKind& k) {
  cudaTextureDesc d{};
  for (auto& m : d.addressMode) m = k.address;
  d.filterMode = k.filter;
  d.normalizedCoords = k.normalized;
  d.readMode = k.read_normalized ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  d.sRGB = k.srgb;
  return d;
}

// Random bytes that are finite numbers as f16 and f32.
template <typename T>
std::vector<T> texels(size_t count, uint32_t seed) {
  std::vector<T> v(count);
  auto* bytes = reinterpret_cast<unsigned char*>(v.data());
  for (size_t i = 0; i < count * sizeof(T); ++i) bytes[i] = mix(static_cast<uint32_t>(i) * 2654435761u + seed) >> 16;
  return v;
}
inline std::vector<float> floats(size_t count, uint32_t seed, float low = -1, float high = 1) {
  std::vector<float> v(count);
  for (size_t i = 0; i < count; ++i)
    v[i] = low + (high - low) * static_cast<float>(mix(static_cast<uint32_t>(i) * 2654435761u + seed) >> 8) * 0x1p-24f;
  return v;
}
inline std::vector<__half> halves(size_t count, uint32_t seed) {
  std::vector<__half> v(count);
  for (size_t i = 0; i < count; ++i) v[i] = __float2half(floats(1, seed + 977 * static_cast<uint32_t>(i), -8, 8)[0]);
  return v;
}

template <typename T>
cudaArray_t array_of(const std::vector<T>& v, int w, int h, int d, cudaChannelFormatDesc format, unsigned flags = 0) {
  cudaArray_t a;
  MUST(cudaMalloc3DArray(&a, &format, make_cudaExtent(w, h, d), flags));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(const_cast<T*>(v.data()), w * sizeof(T), w, h ? h : 1);
  p.dstArray = a;
  p.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
  p.kind = cudaMemcpyHostToDevice;
  MUST(cudaMemcpy3D(&p));
  return a;
}
inline cudaTextureObject_t texture_of(cudaArray_t a, const cudaTextureDesc& d) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaTextureObject_t t;
  MUST(cudaCreateTextureObject(&t, &r, &d, nullptr));
  return t;
}
template <typename T>
cudaTextureObject_t texture_of(const std::vector<T>& v, int w, int h, int d, const TextureKind& k,
                               cudaChannelFormatDesc format = cudaCreateChannelDesc<T>(), unsigned flags = 0) {
  return texture_of(array_of(v, w, h, d, format, flags), describe(k));
}

// Runs kernel(out, points, n, args...) over the points and returns what it wrote.
template <typename Out, typename In, typename... Args, typename... Rest>
std::vector<Out> over(void (*kernel)(Out*, const In*, int, Args...), const std::vector<In>& points, Rest... rest) {
  const int n = static_cast<int>(points.size());
  Out* out;
  In* in;
  MUST(cudaMalloc(&out, n * sizeof(Out)));
  MUST(cudaMalloc(&in, n * sizeof(In)));
  MUST(cudaMemset(out, 0, n * sizeof(Out)));
  MUST(cudaMemcpy(in, points.data(), n * sizeof(In), cudaMemcpyHostToDevice));
  kernel<<<(n + 127) / 128, 128>>>(out, in, n, rest...);
  MUST_RUN();
  std::vector<Out> r(n);
  MUST(cudaMemcpy(r.data(), out, n * sizeof(Out), cudaMemcpyDeviceToHost));
  MUST(cudaFree(out));
  MUST(cudaFree(in));
  return r;
}
inline std::vector<float4> points(int n, float low, float high, uint32_t seed) {
  const std::vector<float> f = floats(4 * static_cast<size_t>(n), seed, low, high);
  std::vector<float4> p(n);
  std::memcpy(p.data(), f.data(), p.size() * sizeof(float4));
  return p;
}

}  // namespace program
