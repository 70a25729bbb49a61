// SPDX-License-Identifier: Apache-2.0
#include "host_native.h"

// A tile of bodies is staged as four arrays; the loop over it is vectorised, one body against a vector of others.
void run(char* const* data) {
  const float* bodies = reinterpret_cast<const float*>(data[0]);
  float* out = reinterpret_cast<float*>(data[1]);
#pragma omp parallel for schedule(static)
  for (int i0 = 0; i0 < kBodies; i0 += kBlock) {
    float sums[kBlock][3] = {};
    for (int j0 = 0; j0 < kBodies; j0 += kBlock) {
      alignas(64) float x[kBlock], y[kBlock], z[kBlock], m[kBlock];
      for (int j = 0; j < kBlock; ++j) {
        const float* body = bodies + size_t(j0 + j) * 4;
        x[j] = body[0], y[j] = body[1], z[j] = body[2], m[j] = body[3];
      }
      for (int t = 0; t < kBlock; ++t) {
        const float* me = bodies + size_t(i0 + t) * 4;
        const float mx = me[0], my = me[1], mz = me[2];
        float ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
        for (int j = 0; j < kBlock; ++j) {
          const float dx = x[j] - mx, dy = y[j] - my, dz = z[j] - mz;
          const float inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + Problem::kSoftening);
          const float force = m[j] * inverse * inverse * inverse;
          ax += dx * force, ay += dy * force, az += dz * force;
        }
        sums[t][0] += ax, sums[t][1] += ay, sums[t][2] += az;
      }
    }
    for (int t = 0; t < kBlock; ++t) {
      float* to = out + size_t(i0 + t) * 4;
      to[0] = sums[t][0], to[1] = sums[t][1], to[2] = sums[t][2], to[3] = 0;
    }
  }
}
