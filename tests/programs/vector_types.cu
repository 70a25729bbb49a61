// SPDX-License-Identifier: Apache-2.0
// Loads and stores of vectors and narrow types in global, shared and local memory, cache hints, read-only loads,
// copies of structs.
#include "program.h"
using namespace program;

template <typename T>
struct Mixer { __host__ __device__ static T apply(T v, int i) { return T(v * 3 + T(i)); } };

template <typename V, typename T, int kLanes>
__global__ void through_shared(V* out, const V* in, int n) {
  __shared__ V tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
  if (i < n) tile[t] = in[i];
  __syncthreads();
  const int other = t ^ 5;
  if (i < n) {
    V mine = tile[blockIdx.x * blockDim.x + other < n ? other : t];
    T* part = reinterpret_cast<T*>(&mine);
    for (int k = 0; k < kLanes; ++k) part[k] = Mixer<T>::apply(part[k], i + k);
    out[i] = mine;
  }
}

template <typename V, typename T, int kLanes>
void check(const char* name) {
  const int n = 128 * 3 + 50;
  std::vector<V> in(n), want(n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < kLanes; ++k) reinterpret_cast<T*>(&in[i])[k] = T(mix(i * kLanes + k) >> 12);
  for (int i = 0; i < n; ++i) {
    const int other = (i / 128 * 128) + ((i % 128) ^ 5);
    want[i] = in[other < n ? other : i];
    for (int k = 0; k < kLanes; ++k) reinterpret_cast<T*>(&want[i])[k] = Mixer<T>::apply(reinterpret_cast<T*>(&want[i])[k], i + k);
  }
  Device<V> from(in), out(n);
  through_shared<V, T, kLanes><<<4, 128>>>(static_cast<V*>(out), static_cast<const V*>(static_cast<V*>(from)), n);
  MUST_RUN();
  expect_equal(name, out.copy(), want);
}

__global__ void hints(uint32_t* out, const uint32_t* in, const float4* quads, float4* quads_out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t v = __ldg(in + i) + __ldcg(in + i) * 3 + __ldca(in + i) * 5 + __ldcs(in + i) * 7 + __ldlu(in + i) + __ldcv(in + i);
  __stcs(out + 4 * i, v);
  __stcg(out + 4 * i + 1, v + 1);
  __stwb(out + 4 * i + 2, v + 2);
  __stwt(out + 4 * i + 3, v + 3);
  const float4 q = __ldg(quads + i);
  __stcs(quads_out + i, make_float4(q.w, q.z, q.y, q.x));
}

int main() {
  check<char, signed char, 1>("char");
  check<char3, signed char, 3>("char3");
  check<uchar4, unsigned char, 4>("uchar4");
  check<short2, short, 2>("short2");
  check<ushort3, unsigned short, 3>("ushort3");
  check<int2, int, 2>("int2");
  check<int3, int, 3>("int3");
  check<uint4, unsigned, 4>("uint4");
  check<float2, float, 2>("float2");
  check<float4, float, 4>("float4");
  check<double2, double, 2>("double2");
  check<longlong2, long long, 2>("longlong2");
  check<ulonglong4_16a, unsigned long long, 4>("ulonglong4");
  const int n = 512;
  const std::vector<uint32_t> in = random_words(n, 3);
  std::vector<float4> quads(n), reversed(n);
  std::vector<uint32_t> want(4 * n);
  for (int i = 0; i < n; ++i) {
    quads[i] = {float(i), i + 0.25f, i + 0.5f, i + 0.75f}, reversed[i] = {quads[i].w, quads[i].z, quads[i].y, quads[i].x};
    for (int k = 0; k < 4; ++k) want[4 * i + k] = in[i] * 18 + k;
  }
  Device<uint32_t> from(in), out(4 * n);
  Device<float4> q(quads), q_out(n);
  hints<<<4, 128>>>(out, from, q, q_out);
  MUST_RUN();
  expect_equal("cache hints", out.copy(), want);
  expect_equal("cache hints on vectors", q_out.copy(), reversed);
  return finish();
}
