// SPDX-License-Identifier: Apache-2.0
// printf in kernels: conversions, widths, lanes of one warp in order, and one launch after the other.
#include "program.h"
using namespace program;

__global__ void conversions(const char* name) {
  printf("%d %i %u %x %X %o %c %%\n", -42, 7, 4000000000u, 48879, 48879, 8, 'x');
  printf("%lld %llu %llx %ld %lu\n", -1234567890123ll, 18446744073709551615ull, 0x123456789abcdefull, -5l, 6ul);
  printf("%f %.3f %10.2f|%-10.1f|%e %g %G\n", 1.5, 2.0 / 3.0, 3.14159, 2.5f, 12345.678, 1e-10, 1e20);
  printf("[%8d] [%-8d] [%08d] [%+d] [% d] [%#x] [%*d]\n", 12, 34, 56, 78, 90, 255, 6, 7);
  printf("[%s] [%10s] [%-10s] [%.3s]\n", "text", "right", "left", "truncated");
  printf("no arguments\n");
  printf("%f %f %f\n", INFINITY, -INFINITY, 0.0 * -1.0);
}

__global__ void lanes() { printf("lane %d of block %d\n", threadIdx.x, blockIdx.x); }

__global__ void some_lanes() {
  if (threadIdx.x % 8 == 3) printf("odd one %d: %d\n", threadIdx.x, printf("returns:\n"));
}

int main() {
  conversions<<<1, 1>>>(nullptr);
  MUST_RUN();
  std::fflush(stdout);
  lanes<<<1, 32>>>();
  MUST_RUN();
  some_lanes<<<1, 32>>>();
  MUST_RUN();
  for (int i = 0; i < 3; ++i) lanes<<<1, 2>>>();
  MUST_RUN();
  std::fflush(stdout);
  return finish();
}
