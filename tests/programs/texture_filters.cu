// SPDX-License-Identifier: Apache-2.0
// Textures of one to three dimensions: every address mode, filter and format,
// normalised and integer-spaced coordinates.
#include "texture.h"
using namespace program;

template <typename T>
__global__ void read_1d(T* out, const float4* at, int n, cudaTextureObject_t t, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1D<T>(t, at[i].x * scale);
}
template <typename T>
__global__ void read_2d(T* out, const float4* at, int n, cudaTextureObject_t t, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<T>(t, at[i].x * scale, at[i].y * scale);
}
template <typename T>
__global__ void read_3d(T* out, const float4* at, int n, cudaTextureObject_t t, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex3D<T>(t, at[i].x * scale, at[i].y * scale, at[i].z * scale);
}

template <typename Out, typename T>
void all_modes(const char* format, const std::vector<T>& v, bool read_normalized, bool filters, bool srgb = false,
               cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>()) {
  static const char* const modes[] = {"wrap", "clamp", "mirror", "border"};
  for (int dims = 1; dims <= 3; ++dims)
    for (int m = 0; m < 4; ++m)
      for (int linear = 0; linear <= (filters ? 1 : 0); ++linear)
        for (int normalized = 0; normalized < 2; ++normalized) {
          if (!normalized && (m == cudaAddressModeWrap || m == cudaAddressModeMirror)) continue;
          TextureKind k;
          k.address = static_cast<cudaTextureAddressMode>(m);
          k.filter = linear ? cudaFilterModeLinear : cudaFilterModePoint;
          k.normalized = normalized, k.read_normalized = read_normalized, k.srgb = srgb;
          const int w = 20, h = dims > 1 ? 12 : 0, d = dims > 2 ? 9 : 0;
          const cudaTextureObject_t t = texture_of(v, w, h, d, k, desc);
          auto at = points(700, -1.5f, 2.5f, 5);
          for (int i = 0; i < 100; ++i)  // edges and middles of texels
            at[i] = {static_cast<float>(i % 41 - 10) / 20, static_cast<float>(i % 25 - 6) / 24, static_cast<float>(i % 19 - 5) / 18, 0};
          char name[96];
          std::snprintf(name, sizeof name, "%s %dd %s %s %s", format, dims, modes[m], linear ? "linear" : "point",
                        normalized ? "normalized" : "texels");
          show(name, over(dims == 1 ? read_1d<Out> : dims == 2 ? read_2d<Out> : read_3d<Out>, at, t, normalized ? 1.0f : 16.0f));
          MUST(cudaDestroyTextureObject(t));
        }
}

int main() {
  const size_t n = 20 * 12 * 9;
  all_modes<float>("f32", floats(n, 1), false, true);
  std::vector<float4> four(n);
  const auto parts = floats(4 * n, 2, -100, 1000);
  std::memcpy(four.data(), parts.data(), n * sizeof(float4));
  all_modes<float4>("f32x4", four, false, true);
  all_modes<float>("f16", halves(n, 3), false, true, false, cudaCreateChannelDescHalf());
  all_modes<float>("u8 as float", texels<unsigned char>(n, 4), true, true);
  all_modes<float4>("u8x4 as float", texels<uchar4>(n, 5), true, true);
  all_modes<float4>("u8x4 sRGB", texels<uchar4>(n, 6), true, true, true);
  all_modes<float2>("s8x2 as float", texels<char2>(n, 7), true, true);
  all_modes<float>("u16 as float", texels<unsigned short>(n, 8), true, true);
  all_modes<float4>("s16x4 as float", texels<short4>(n, 9), true, true);
  all_modes<unsigned char>("u8", texels<unsigned char>(n, 10), false, false);
  all_modes<char4>("s8x4", texels<char4>(n, 11), false, false);
  all_modes<ushort2>("u16x2", texels<ushort2>(n, 12), false, false);
  all_modes<int>("s32", texels<int>(n, 13), false, false);
  all_modes<uint4>("u32x4", texels<uint4>(n, 14), false, false);
  return finish();
}
