// SPDX-License-Identifier: Apache-2.0
// __constant__ and initialised __device__ variables: initial values, copies in both directions, addresses, sizes,
// pointers.
#include "program.h"
using namespace program;

struct Row { int key; float weight[3]; const char* name; };
__constant__ uint32_t coefficients[256];
__constant__ int defaults[6] = {3, 1, 4, 1, 5, 9};
__constant__ Row rows[2] = {{7, {0.5f, 1.5f, 2.5f}, "seven"}, {8, {-0.5f, -1.5f, -2.5f}, "eight"}};
__device__ uint32_t counters[4] = {10, 20, 30};
__device__ uint32_t* chosen = &counters[2];
__device__ double real = 2.75;

__global__ void apply(uint32_t* out, const uint32_t* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t v = coefficients[in[i] % 256] * in[i] + coefficients[blockIdx.x];
  v += defaults[v % 6] + rows[v & 1].key + int(rows[v & 1].weight[v % 3] * 2) + rows[i & 1].name[i % 5];
  out[i] = v;
}

__global__ void through_pointer(uint32_t* out) {
  atomicAdd(chosen, threadIdx.x);
  if (threadIdx.x == 0) out[0] = counters[0] + counters[1] + counters[3], real *= 2;
}

int main() {
  std::vector<uint32_t> table = random_words(256, 8), in = random_words(256, 9), want(256);
  MUST(cudaMemcpyToSymbol(coefficients, table.data(), 1024));
  const uint32_t patch[2] = {111, 222};
  MUST(cudaMemcpyToSymbol(coefficients, patch, sizeof patch, 40));
  table[10] = 111, table[11] = 222;
  Device<uint32_t> from(in), out(256);
  apply<<<4, 64>>>(out, from);
  MUST_RUN();
  const int d[6] = {3, 1, 4, 1, 5, 9};
  for (int i = 0; i < 256; ++i) {
    uint32_t v = table[in[i] % 256] * in[i] + table[i / 64];
    const float weight[3] = {0.5f, 1.5f, 2.5f};
    const int w = int(weight[v % 3] * 2) * (v & 1 ? -1 : 1);
    v = v + d[v % 6] + (7 + (v & 1)) + w + (i & 1 ? "eight" : "seven")[i % 5];
    want[i] = v;
  }
  expect_equal("tables", out.copy(), want);
  std::vector<uint32_t> back(256);
  MUST(cudaMemcpyFromSymbol(back.data(), coefficients, 1024));
  expect_equal("copied back", back, table);
  size_t size = 0;
  void* address = nullptr;
  MUST(cudaGetSymbolSize(&size, rows));
  std::printf("size of rows: %zu\n", size);
  MUST(cudaGetSymbolAddress(&address, counters));
  MUST(cudaMemset(address, 1, 4));
  through_pointer<<<1, 64>>>(out);
  MUST_RUN();
  uint32_t counted[4];
  double twice;
  MUST(cudaMemcpyFromSymbol(counted, counters, sizeof counted));
  MUST(cudaMemcpyFromSymbol(&twice, real, sizeof twice));
  expect("counters", counted[0] == 0x01010101 && counted[1] == 20 && counted[2] == 30 + 63 * 32 && counted[3] == 0);
  expect("a kernel saw the memset", out.copy()[0] == 0x01010101 + 20);
  expect("double variable", twice == 5.5);
  return finish();
}
