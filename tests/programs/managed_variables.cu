// SPDX-License-Identifier: Apache-2.0
// Memory that host and device share: __managed__ variables, cudaMallocManaged, mapped host memory,
// registered host memory.
#include "program.h"
using namespace program;

struct Node { uint32_t value; Node* next; };
__managed__ uint32_t total = 5;
__managed__ uint32_t table[64];
__managed__ Node* list = nullptr;

__global__ void add_up(uint32_t* array, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&total, array[i]), array[i] = mix(array[i]) + table[i % 64];
}
__global__ void walk(uint32_t* out) {
  uint32_t sum = 0;
  for (Node* p = list; p; p = p->next) sum = sum * 3 + p->value, p->value += 1;
  *out = sum;
}
__global__ void scale(uint32_t* v, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = v[i] * 7 + i;
}

int main() {
  const int n = 1000;
  uint32_t *array, *result, want_total = 5;
  MUST(cudaMallocManaged(&array, n * 4));
  MUST(cudaMallocManaged(&result, 4));
  std::vector<uint32_t> want(n);
  for (int k = 0; k < 64; ++k) table[k] = mix(k);
  for (int i = 0; i < n; ++i) array[i] = i * 3, want_total += i * 3, want[i] = mix(i * 3) + mix(i % 64);
  add_up<<<8, 128>>>(array, n);
  MUST_RUN();
  expect("managed counter", total == want_total);
  expect_equal("managed array", std::vector<uint32_t>(array, array + n), want);

  Node* nodes;
  MUST(cudaMallocManaged(&nodes, 10 * sizeof(Node)));
  uint32_t sum = 0;
  for (int k = 0; k < 10; ++k) nodes[k] = {mix(k), k ? &nodes[k - 1] : nullptr};
  list = &nodes[9];
  for (int k = 9; k >= 0; --k) sum = sum * 3 + mix(k);
  walk<<<1, 1>>>(result);
  MUST_RUN();
  expect("linked list", *result == sum && nodes[4].value == mix(4) + 1);

  uint32_t *mapped, *device_view;
  MUST(cudaHostAlloc(&mapped, n * 4, cudaHostAllocMapped));
  MUST(cudaHostGetDevicePointer(&device_view, mapped, 0));
  for (int i = 0; i < n; ++i) mapped[i] = mix(i), want[i] = mix(i) * 7 + i;
  scale<<<8, 128>>>(device_view, n);
  MUST_RUN();
  expect_equal("mapped host memory", std::vector<uint32_t>(mapped, mapped + n), want);

  uint32_t* own = static_cast<uint32_t*>(std::aligned_alloc(4096, 4096));
  for (int i = 0; i < n; ++i) own[i] = mix(i + 5), want[i] = mix(i + 5) * 7 + i;
  MUST(cudaHostRegister(own, 4096, cudaHostRegisterMapped));
  MUST(cudaHostGetDevicePointer(&device_view, own, 0));
  scale<<<8, 128>>>(device_view, n);
  MUST_RUN();
  expect_equal("registered host memory", std::vector<uint32_t>(own, own + n), want);
  MUST(cudaHostUnregister(own));
  std::free(own);
  MUST(cudaFreeHost(mapped));
  MUST(cudaFree(array));
  return finish();
}
