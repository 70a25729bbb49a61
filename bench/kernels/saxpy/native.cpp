// SPDX-License-Identifier: Apache-2.0
#include "host_native.h"

void run(char* const* data) {
  const float* __restrict x = reinterpret_cast<const float*>(data[0]);
  float* __restrict y = reinterpret_cast<float*>(data[1]);
  const float a = Problem::kA;
#pragma omp parallel for simd schedule(static)
  for (int i = 0; i < kCount; ++i) y[i] = a * x[i] + y[i];
}
