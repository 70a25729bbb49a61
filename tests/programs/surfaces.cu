// SPDX-License-Identifier: Apache-2.0
// Surfaces of one to three dimensions, layers and cubes: reads, writes, what happens outside, reductions,
// formatted stores.
#include "texture.h"
using namespace program;

static cudaSurfaceObject_t surface_of(cudaArray_t a) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaSurfaceObject_t s;
  MUST(cudaCreateSurfaceObject(&s, &r));
  return s;
}
template <typename T>
std::vector<T> contents(cudaArray_t a, int w, int h, int d) {
  std::vector<T> v(static_cast<size_t>(w) * h * d);
  cudaMemcpy3DParms p{};
  p.srcArray = a;
  p.dstPtr = make_cudaPitchedPtr(v.data(), w * sizeof(T), w, h);
  p.extent = make_cudaExtent(w, h, d);
  p.kind = cudaMemcpyDeviceToHost;
  MUST(cudaMemcpy3D(&p));
  return v;
}

template <typename T>
__global__ void shift_1d(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int w) {
  const int x = threadIdx.x;
  if (x < w) surf1Dwrite(surf1Dread<T>(from, (x + 3) % w * sizeof(T)), to, x * sizeof(T));
}
template <typename T>
__global__ void transpose(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int n) {
  const int x = threadIdx.x % n, y = threadIdx.x / n;
  surf2Dwrite(surf2Dread<T>(from, x * sizeof(T), y), to, y * sizeof(T), x);
}
__global__ void rotate_3d(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int n) {
  const int x = threadIdx.x % n, y = threadIdx.x / n % n, z = threadIdx.x / n / n;
  surf3Dwrite(surf3Dread<float>(from, x * 4, y, z), to, y * 4, z, x);
}
__global__ void layers(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int n) {
  const int x = threadIdx.x % n, y = threadIdx.x / n % n, z = threadIdx.x / n / n;
  surf2DLayeredwrite(surf2DLayeredread<float>(from, x * 4, y, z) + z, to, (n - 1 - x) * 4, y, n - 1 - z);
}
__global__ void faces(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int n) {
  const int x = threadIdx.x % n, y = threadIdx.x / n % n, f = threadIdx.x / n / n;
  if (f < 6) surfCubemapwrite(surfCubemapread<float>(from, x * 4, y, f) * 2, to, y * 4, x, 5 - f);
}
template <typename T>
__global__ void outside(T* out, const int2* at, int n, cudaSurfaceObject_t s, bool zero) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = zero ? surf2Dread<T>(s, at[i].x * static_cast<int>(sizeof(T)), at[i].y, cudaBoundaryModeZero)
                : surf2Dread<T>(s, at[i].x * static_cast<int>(sizeof(T)), at[i].y, cudaBoundaryModeClamp);
}
__global__ void write_outside(cudaSurfaceObject_t s) {  // dropped
  surf2Dwrite(7.0f, s, (static_cast<int>(threadIdx.x) - 4) * 4, static_cast<int>(blockIdx.x) - 4, cudaBoundaryModeZero);
}
__global__ void reduce(cudaSurfaceObject_t s) {
  const int x = threadIdx.x % 8 * 4, y = threadIdx.x % 3, v = static_cast<int>(threadIdx.x * 2654435761u >> 8);
  asm volatile("sured.b.add.2d.u32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(y), "r"(v) : "memory");
  asm volatile("sured.b.max.2d.s32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(y + 3), "r"(v - 0x800000) : "memory");
  asm volatile("sured.b.or.2d.b32.trap [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(y + 6), "r"(v) : "memory");
}
__global__ void formatted(cudaSurfaceObject_t s, const float* values, int n, bool real) {
  const int x = threadIdx.x;
  if (x >= n) return;
  const unsigned v = real ? __float_as_uint(values[x]) : static_cast<unsigned>(static_cast<int>(values[x] * 300));
  asm volatile("sust.p.1d.b32.trap [%0, {%1}], %2;" ::"l"(s), "r"(x), "r"(v) : "memory");
}

template <typename T>
void squares(const char* name) {
  const auto v = texels<T>(64, 1);
  const auto from = array_of(v, 8, 8, 0, cudaCreateChannelDesc<T>(), cudaArraySurfaceLoadStore);
  const auto to = array_of(std::vector<T>(64), 8, 8, 0, cudaCreateChannelDesc<T>(), cudaArraySurfaceLoadStore);
  transpose<T><<<1, 64>>>(surface_of(to), surface_of(from), 8);
  MUST_RUN();
  std::vector<T> want(64);
  for (int i = 0; i < 64; ++i) want[i % 8 * 8 + i / 8] = v[i];
  expect_equal(name, contents<T>(to, 8, 8, 1), want);
}

int main() {
  squares<unsigned char>("transpose u8");
  squares<ushort2>("transpose u16x2");
  squares<float>("transpose f32");
  squares<float2>("transpose f32x2");
  squares<uint4>("transpose u32x4");
  const unsigned flags = cudaArraySurfaceLoadStore;
  auto empty = [&](int w, int h, int d, unsigned more) {
    return array_of(std::vector<float>(static_cast<size_t>(w) * (h ? h : 1) * (d ? d : 1)), w, h, d, cudaCreateChannelDesc<float>(), flags | more);
  };
  const auto line = array_of(floats(32, 2), 32, 0, 0, cudaCreateChannelDesc<float>(), flags), line_to = empty(32, 0, 0, 0);
  shift_1d<float><<<1, 32>>>(surface_of(line_to), surface_of(line), 32);
  const auto solid = array_of(floats(512, 3), 8, 8, 8, cudaCreateChannelDesc<float>(), flags), solid_to = empty(8, 8, 8, 0);
  rotate_3d<<<1, 512>>>(surface_of(solid_to), surface_of(solid), 8);
  const auto layer = array_of(floats(512, 4), 8, 8, 8, cudaCreateChannelDesc<float>(), flags | cudaArrayLayered), layer_to = empty(8, 8, 8, cudaArrayLayered);
  layers<<<1, 512>>>(surface_of(layer_to), surface_of(layer), 8);
  const auto cube = array_of(floats(384, 5), 8, 8, 6, cudaCreateChannelDesc<float>(), flags | cudaArrayCubemap), cube_to = empty(8, 8, 6, cudaArrayCubemap);
  faces<<<1, 384>>>(surface_of(cube_to), surface_of(cube), 8);
  MUST_RUN();
  show("1d shifted", contents<float>(line_to, 32, 1, 1));
  show("3d rotated", contents<float>(solid_to, 8, 8, 8));
  show("layers mirrored", contents<float>(layer_to, 8, 8, 8));
  show("faces transposed", contents<float>(cube_to, 8, 8, 6));

  std::vector<int2> around;
  for (int y = -3; y < 11; ++y)
    for (int x = -3; x < 11; ++x) around.push_back({x, y});
  const auto plane = array_of(floats(64, 6), 8, 8, 0, cudaCreateChannelDesc<float>(), flags);
  const auto wide = array_of(texels<uint4>(64, 7), 8, 8, 0, cudaCreateChannelDesc<uint4>(), flags);
  for (bool zero : {false, true}) {
    show(zero ? "outside f32, zero" : "outside f32, clamp", over(outside<float>, around, surface_of(plane), zero));
    show(zero ? "outside u32x4, zero" : "outside u32x4, clamp", over(outside<uint4>, around, surface_of(wide), zero));
  }
  write_outside<<<16, 16>>>(surface_of(plane));
  MUST_RUN();
  show("written outside, zero", contents<float>(plane, 8, 8, 1));
  const auto words = array_of(std::vector<int>(9 * 8), 8, 9, 0, cudaCreateChannelDesc<int>(), flags);
  reduce<<<4, 96>>>(surface_of(words));
  MUST_RUN();
  show("reductions", contents<int>(words, 8, 9, 1));

  auto values = floats(32, 8, -2, 2);
  values[0] = 0.5f, values[1] = 1, values[2] = -1, values[3] = 1.5f / 255, values[4] = 2.5f / 255;
  float* v;
  MUST(cudaMalloc(&v, 128));
  MUST(cudaMemcpy(v, values.data(), 128, cudaMemcpyHostToDevice));
  const auto h = array_of(std::vector<__half>(32), 32, 0, 0, cudaCreateChannelDescHalf(), flags);
  formatted<<<1, 32>>>(surface_of(h), v, 32, true);
  const auto b = array_of(std::vector<unsigned char>(32), 32, 0, 0, cudaCreateChannelDesc<unsigned char>(), flags);
  formatted<<<1, 32>>>(surface_of(b), v, 32, false);
  const auto c = array_of(std::vector<short>(32), 32, 0, 0, cudaCreateChannelDesc<short>(), flags);
  formatted<<<1, 32>>>(surface_of(c), v, 32, false);
  MUST_RUN();
  show("formatted f16", contents<unsigned short>(h, 32, 1, 1));
  show("formatted u8", contents<unsigned char>(b, 32, 1, 1));
  show("formatted s16", contents<short>(c, 32, 1, 1));
  return finish();
}
