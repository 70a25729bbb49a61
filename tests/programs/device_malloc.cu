// SPDX-License-Identifier: Apache-2.0
// malloc, free, new and delete in kernels; blocks outlive the kernel that allocated them; the heap's limit holds.
#include "program.h"
using namespace program;

__global__ void grow(uint32_t** lists, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int length = 1 + i % 37;
  uint32_t* list = static_cast<uint32_t*>(malloc(length * sizeof(uint32_t)));
  if (list)
    for (int k = 0; k < length; ++k) list[k] = mix(i * 100 + k);
  lists[i] = list;
}

__global__ void collect(uint32_t** lists, uint32_t* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t sum = 0;
  for (int k = 0; k < 1 + i % 37; ++k) sum = sum * 3 + lists[i][k];
  out[i] = sum;
  free(lists[i]);
}

struct Node {
  uint32_t value;
  Node* next;
  __device__ Node(uint32_t v, Node* n) : value(v), next(n) {}
};

__global__ void linked(uint32_t* out) {
  const int i = threadIdx.x;
  Node* head = nullptr;
  for (int k = 0; k < i % 9 + 1; ++k) head = new Node(mix(i + k), head);
  uint32_t sum = 0;
  while (head) {
    sum = sum * 7 + head->value;
    Node* next = head->next;
    delete head;
    head = next;
  }
  out[i] = sum;
}

__global__ void too_much(int* got_null) {
  if (malloc(size_t(1) << 36) == nullptr) *got_null = 1;
  free(nullptr);
}

int main() {
  const int n = 4 * 128;
  Device<uint32_t*> lists(n);
  Device<uint32_t> out(n);
  Device<int> got_null(1);
  grow<<<4, 128>>>(lists, n);
  MUST_RUN();
  collect<<<4, 128>>>(lists, out);
  MUST_RUN();
  std::vector<uint32_t> want(n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 1 + i % 37; ++k) want[i] = want[i] * 3 + mix(i * 100 + k);
  expect_equal("lists that outlive a kernel", out.copy(), want);
  Device<uint32_t> nodes(64);
  linked<<<1, 64>>>(nodes);
  MUST_RUN();
  std::vector<uint32_t> sums(64);
  for (int i = 0; i < 64; ++i)
    for (int k = i % 9; k >= 0; --k) sums[i] = sums[i] * 7 + mix(i + k);
  expect_equal("new and delete", nodes.copy(), sums);
  too_much<<<1, 1>>>(got_null);
  MUST_RUN();
  expect("more than the heap gives null", got_null.copy()[0] == 1);
  return finish();
}
