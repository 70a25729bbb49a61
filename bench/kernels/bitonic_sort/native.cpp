// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "host_native.h"

// A segment is eight vectors of 16 keys, held in registers through the whole network.
constexpr int kLanes = 16, kVectors = kSegment / kLanes;
typedef int Keys __attribute__((vector_size(kLanes * sizeof(int))));

template <class F, size_t... I>
static inline __attribute__((always_inline)) Keys make(F f, std::index_sequence<I...>) {
  return Keys{f(int(I))...};
}
template <class F>
static inline __attribute__((always_inline)) Keys make(F f) {
  return make(f, std::make_index_sequence<kLanes>());
}

// Comparators between lanes of one vector: partner = lane ^ stride.
template <int kSize, int kStride>
static inline __attribute__((always_inline)) void step_inside(Keys (&v)[kVectors]) {
  const Keys partner = make([](int lane) { return lane ^ kStride; });
#pragma GCC unroll 8
  for (int i = 0; i < kVectors; ++i) {
    const Keys keep_low = make([i](int lane) { return ((lane & kStride) == 0) == (((i * kLanes + lane) & kSize) == 0) ? -1 : 0; });
    const Keys other = __builtin_shuffle(v[i], partner);
    const Keys low = v[i] < other ? v[i] : other, high = v[i] < other ? other : v[i];
    v[i] = keep_low ? low : high;
  }
}

// Comparators between whole vectors.
template <int kSize, int kStride>
static inline __attribute__((always_inline)) void step_across(Keys (&v)[kVectors]) {
#pragma GCC unroll 8
  for (int i = 0; i < kVectors; ++i) {
    const int j = i ^ (kStride / kLanes);
    if (j < i) continue;
    const Keys low = v[i] < v[j] ? v[i] : v[j], high = v[i] < v[j] ? v[j] : v[i];
    const bool ascending = (i * kLanes & kSize) == 0;
    v[i] = ascending ? low : high;
    v[j] = ascending ? high : low;
  }
}

template <int kSize, int kStride>
static inline __attribute__((always_inline)) void merge(Keys (&v)[kVectors]) {
  if constexpr (kStride >= kLanes)
    step_across<kSize, kStride>(v);
  else
    step_inside<kSize, kStride>(v);
  if constexpr (kStride > 1)
    merge<kSize, kStride / 2>(v);
  else if constexpr (kSize < kSegment)
    merge<kSize * 2, kSize>(v);
}

void run(char* const* data) {
  const Keys* in = reinterpret_cast<const Keys*>(data[0]);
  Keys* out = reinterpret_cast<Keys*>(data[1]);
#pragma omp parallel for schedule(static)
  for (int segment = 0; segment < kSegments; ++segment) {
    Keys v[kVectors];
    for (int i = 0; i < kVectors; ++i) v[i] = in[size_t(segment) * kVectors + i];
    merge<2, 1>(v);
    for (int i = 0; i < kVectors; ++i) out[size_t(segment) * kVectors + i] = v[i];
  }
}
