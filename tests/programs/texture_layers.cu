// SPDX-License-Identifier: Apache-2.0
// Layered textures, cubes and gathers of four texels.
#include "texture.h"
using namespace program;

__global__ void layered_1d(float* out, const float4* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1DLayered<float>(t, at[i].x, static_cast<int>(at[i].z * 4));
}
__global__ void layered_2d(float* out, const float4* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2DLayered<float>(t, at[i].x, at[i].y, static_cast<int>(at[i].z * 4));
}
__global__ void cube(float* out, const float4* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = texCubemap<float>(t, at[i].x, at[i].y, at[i].z);
}
__global__ void layered_cube(float* out, const float4* at, int n, cudaTextureObject_t t) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = texCubemapLayered<float>(t, at[i].x, at[i].y, at[i].z, static_cast<int>(at[i].w * 3));
}
template <typename T>
__global__ void gather(T* out, const float4* at, int n, cudaTextureObject_t t, int component) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2Dgather<T>(t, at[i].x, at[i].y, component);
}

int main() {
  for (int linear = 0; linear < 2; ++linear) {
    TextureKind k;
    k.filter = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    k.normalized = true;
    for (auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeBorder}) {
      k.address = mode;
      const auto one = texture_of(floats(16 * 5, 1), 16, 0, 5, k, cudaCreateChannelDesc<float>(), cudaArrayLayered);
      show("1d layers", over(layered_1d, points(500, -0.5f, 1.5f, 2), one));
      const auto two = texture_of(floats(16 * 8 * 5, 3), 16, 8, 5, k, cudaCreateChannelDesc<float>(), cudaArrayLayered);
      show("2d layers", over(layered_2d, points(500, -0.5f, 1.5f, 4), two));
    }
    for (int seamless = 0; seamless < 2; ++seamless) {
      cudaTextureDesc d = describe(k);
      d.seamlessCubemap = seamless;
      for (auto& m : d.addressMode) m = cudaAddressModeClamp;
      // Directions whose components differ: which face equal ones belong to is up to the device (see the edges below).
      const auto faces = array_of(floats(6 * 64, 5), 8, 8, 6, cudaCreateChannelDesc<float>(), cudaArrayCubemap);
      show(seamless ? "cube, seamless" : "cube", over(cube, points(3000, -1, 1, 6), texture_of(faces, d)));
      const auto many = array_of(floats(18 * 64, 7), 8, 8, 18, cudaCreateChannelDesc<float>(), cudaArrayCubemap | cudaArrayLayered);
      show(seamless ? "cube layers, seamless" : "cube layers", over(layered_cube, points(3000, -1, 1, 8), texture_of(many, d)));
    }
  }
  std::vector<float4> edges;
  for (int x = -2; x <= 2; ++x)
    for (int y = -2; y <= 2; ++y)
      for (int z = -2; z <= 2; ++z) edges.push_back({static_cast<float>(x), static_cast<float>(y), static_cast<float>(z), 0});
  TextureKind k;
  k.normalized = true;
  show("cube, edges and corners",
       over(cube, edges, texture_of(floats(6 * 64, 5), 8, 8, 6, k, cudaCreateChannelDesc<float>(), cudaArrayCubemap)));

  for (int component = 0; component < 4; ++component)
    for (auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder}) {
      k.address = mode;
      k.read_normalized = false;
      std::vector<float4> v(16 * 8);
      const auto f = floats(4 * v.size(), 9);
      std::memcpy(v.data(), f.data(), v.size() * sizeof(float4));
      show("gather f32", over(gather<float4>, points(500, -0.7f, 1.7f, 10),
                              texture_of(v, 16, 8, 0, k, cudaCreateChannelDesc<float4>(), cudaArrayTextureGather), component));
      show("gather s32", over(gather<int4>, points(500, -0.7f, 1.7f, 11),
                              texture_of(texels<int4>(16 * 8, 12), 16, 8, 0, k, cudaCreateChannelDesc<int4>(), cudaArrayTextureGather),
                              component));
    }
  return finish();
}
