// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 118
// What a virtual function writes is read behind a barrier.
#include "../twin.h"

struct Stage {
  __device__ virtual void run(int* s) const = 0;
};
struct Fill : Stage {
  __device__ void run(int* s) const override {
    s[threadIdx.x] = threadIdx.x;
  }
};
struct Twist : Stage {
  int* out;
  __device__ explicit Twist(int* o) : out(o) {}
  __device__ void run(int* s) const override {
    out[threadIdx.x] = s[threadIdx.x ^ 33];
  }
};

__global__ void kernel(int* out, int stages) {
  __shared__ int s[64];
  Fill fill;
  Twist twist(out);
  const Stage* list[2] = {&fill, &twist};
  for (int k = 0; k < stages; ++k) {
    list[k]->run(s);
    __syncthreads();
  }
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out, 2);
  return judge(out, 64, [](int i) { return i ^ 33; });
}
