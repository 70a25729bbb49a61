// SPDX-License-Identifier: Apache-2.0
// flags: -rdc=true -lcudadevrt
// Grid synchronisation by the functions of the device runtime that compilers other than nvcc call.
#include "api.h"

namespace {
struct Board {
  unsigned long long handle_is_zero, other_scope_is_zero;
  int codes[8];
  unsigned threads, grids, rank, grid_rank, bad;
};
constexpr unsigned kBlocks = 24, kThreads = 96, kRounds = 20;
}  // namespace

__global__ void rounds(Board* b, unsigned* slots) {
  const unsigned long long h = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (unsigned r = 0; r < kRounds; ++r) {
    slots[(r & 1) * all + me] = r * 1000 + me;
    cudaCGSynchronize(h, 0);
    const unsigned other = (me + 1 + r * 97) % all;
    if (slots[(r & 1) * all + other] != r * 1000 + other) atomicAdd(&b->bad, 1);
  }
}
__global__ void asks(Board* b) {
  const unsigned long long h = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
  unsigned threads = 77, grids = 77, rank = 77, grid_rank = 77;
  const int size_code = cudaCGGetSize(&threads, &grids, h), rank_code = cudaCGGetRank(&rank, &grid_rank, h);
  const int sync_code = cudaCGSynchronize(h, 0);
  const int grid_code = cudaCGSynchronizeGrid(h, 0);
  const int zero_code = cudaCGSynchronize(0, 0), flag_code = cudaCGSynchronize(h, 1);
  if (blockIdx.x != 1 || threadIdx.x != 5) return;
  b->handle_is_zero = h == 0;
  b->other_scope_is_zero = cudaCGGetIntrinsicHandle(cudaCGScopeInvalid) == 0;
  b->codes[0] = size_code, b->codes[1] = rank_code, b->codes[2] = sync_code, b->codes[3] = grid_code;
  b->codes[4] = zero_code, b->codes[5] = flag_code;
  b->threads = threads, b->grids = grids, b->rank = rank, b->grid_rank = grid_rank;
}
__global__ void ordinary(Board* b) {
  const unsigned long long h = cudaCGGetIntrinsicHandle(cudaCGScopeGrid);
  unsigned threads = 77, grids = 77;
  b->handle_is_zero = h == 0;
  b->codes[0] = cudaCGGetSize(&threads, &grids, h);
  b->codes[2] = cudaCGSynchronize(h, 0);
}

namespace {
void print(const Board& b) {
  VALUE(b.handle_is_zero);
  VALUE(b.other_scope_is_zero);
  for (int i = 0; i < 6; ++i) std::printf("code %d: %d\n", i, b.codes[i]);
  VALUE(b.threads);
  VALUE(b.grids);
  VALUE(b.rank);
  VALUE(b.grid_rank);
}
}  // namespace

int main() {
  Board* b;
  unsigned* slots;
  MUST(cudaMallocHost(&b, sizeof *b));
  MUST(cudaMalloc(&slots, 2 * kBlocks * kThreads * sizeof(unsigned)));
  *b = {};
  void* args[] = {&b, &slots};
  SHOW(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rounds), dim3(kBlocks), dim3(kThreads), args, 0, nullptr));
  SHOW(cudaDeviceSynchronize());
  VALUE(b->bad);
  *b = {};
  SHOW(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(asks), dim3(3), dim3(64), args, 0, nullptr));
  SHOW(cudaDeviceSynchronize());
  print(*b);
  *b = {};
  for (int& c : b->codes) c = 77;
  ordinary<<<1, 1>>>(b);
  SHOW(cudaDeviceSynchronize());
  VALUE(b->handle_is_zero);
  VALUE(b->codes[0]);
  VALUE(b->codes[2]);
  return 0;
}
