// SPDX-License-Identifier: Apache-2.0
__kernel void saxpy(__global const float* restrict x, __global float* restrict y, float a, int n) {
  const int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}
