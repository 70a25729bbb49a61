// SPDX-License-Identifier: Apache-2.0
// ldmatrix, stmatrix and movmatrix: every number of tiles, plain and transposed, rows in any order.
#include "program.h"
using namespace program;

__device__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

#define LOAD1(TRANS, r, at) asm volatile("ldmatrix.sync.aligned.m8n8.x1" TRANS ".shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at))
#define LOAD2(TRANS, r, at) \
  asm volatile("ldmatrix.sync.aligned.m8n8.x2" TRANS ".shared.b16 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at))
#define LOAD4(TRANS, r, at)                                                                   \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4" TRANS ".shared::cta.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                               \
               : "r"(at))
#define STORE1(TRANS, r, at) \
  asm volatile("stmatrix.sync.aligned.m8n8.x1" TRANS ".shared.b16 [%1], {%0};" ::"r"(r[0]), "r"(at) : "memory")
#define STORE2(TRANS, r, at) \
  asm volatile("stmatrix.sync.aligned.m8n8.x2" TRANS ".shared.b16 [%2], {%0, %1};" ::"r"(r[0]), "r"(r[1]), "r"(at) : "memory")
#define STORE4(TRANS, r, at)                                                                      \
  asm volatile("stmatrix.sync.aligned.m8n8.x4" TRANS ".shared.b16 [%4], {%0, %1, %2, %3};" ::"r"(r[0]), \
               "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(at)                                           \
               : "memory")

// 32 rows of 16 bytes, read in the order of a permutation.
__global__ void loads(uint32_t* out, const uint32_t* in) {
  __shared__ alignas(16) uint32_t rows[128];
  const int lane = threadIdx.x;
  for (int k = 0; k < 4; ++k) rows[lane + 32 * k] = in[lane + 32 * k];
  __syncwarp();
  const uint32_t straight = shared_address(rows) + lane * 16, mixed = shared_address(rows) + (lane * 13 + 5) % 32 * 16;
  uint32_t r[24];
  for (int k = 0; k < 24; ++k) r[k] = 0;
  LOAD1("", r, straight);
  LOAD2("", (r + 1), mixed);
  LOAD4("", (r + 3), mixed);
  LOAD1(".trans", (r + 7), mixed);
  LOAD2(".trans", (r + 8), straight);
  LOAD4(".trans", (r + 10), mixed);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.b16 {%0}, [%1];" : "=r"(r[14]) : "l"(rows + lane % 8 * 4));
  for (int k = 0; k < 24; ++k) out[k * 32 + lane] = r[k];
}

__global__ void stores(uint32_t* out, const uint32_t* in) {
  __shared__ alignas(16) uint32_t rows[6][128];
  const int lane = threadIdx.x;
  for (int k = 0; k < 6 * 4; ++k) rows[0][lane + 32 * k] = 0xabababab;
  __syncwarp();
  uint32_t r[4];
  for (int k = 0; k < 4; ++k) r[k] = in[lane + 32 * k];
  const uint32_t straight = lane * 16, mixed = (lane * 13 + 5) % 32 * 16;
  STORE1("", r, shared_address(rows[0]) + straight);
  STORE2("", r, shared_address(rows[1]) + mixed);
  STORE4("", r, shared_address(rows[2]) + mixed);
  STORE1(".trans", r, shared_address(rows[3]) + mixed);
  STORE2(".trans", r, shared_address(rows[4]) + straight);
  STORE4(".trans", r, shared_address(rows[5]) + mixed);
  __syncwarp();
  for (int k = 0; k < 6 * 4; ++k) out[k * 32 + lane] = rows[0][lane + 32 * k];
}

__global__ void moves(uint32_t* out, const uint32_t* in) {
  uint32_t d;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(in[threadIdx.x]));
  out[threadIdx.x] = d;
}

int main() {
  const std::vector<uint32_t> words = random_words(128, 3);
  Device<uint32_t> in(words), out(24 * 32);
  loads<<<1, 32>>>(out, in);
  MUST_RUN();
  show("ldmatrix", out.copy());
  stores<<<1, 32>>>(out, in);
  MUST_RUN();
  show("stmatrix", out.copy());
  moves<<<1, 32>>>(out, in);
  MUST_RUN();
  std::vector<uint32_t> got = out.copy(), want(32);
  got.resize(32);
  auto half = [](const uint32_t* v, int i, int j) { return v[i * 4 + j / 2] >> (16 * (j & 1)) & 0xffff; };
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) want[i * 4 + j / 2] |= half(words.data(), j, i) << (16 * (j & 1));
  expect_equal("movmatrix", got, want);
  return finish();
}
