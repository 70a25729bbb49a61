// SPDX-License-Identifier: Apache-2.0
// Columns of a 32 x 32 tile of words in shared memory, read by a warp at once: 32 words of one bank, and three cures.
//
//   rows of 32     every column lies in one bank: 32 passes
//   rows of 33     padding
//   xor            word x of row y at x ^ y
//   bulk tensor    chunks of 16 bytes exchanged by the copy (128-byte swizzle): words of 4 bytes keep conflicts of 4
#include "../experiment.h"
using namespace gallery;

enum Way { Plain, Padded, Xor, Tensor };

template <Way kWay>
__device__ int place(int y, int x) {
  if (kWay == Padded) return y * 33 + x;
  if (kWay == Xor) return y * 32 + (x ^ y);
  if (kWay == Tensor) return y * 32 + ((x / 4 ^ (y & 7)) * 4 | x % 4);
  return y * 32 + x;
}

template <Way kWay>
__global__ void __launch_bounds__(32) transpose(const __grid_constant__ CUtensorMap map, const Word* in, Word* out, int width, int rounds) {
  __shared__ __align__(1024) Word tile[32 * 33];
  __shared__ uint64_t full;
  const int lane = threadIdx.x, x = blockIdx.x * 32, y = blockIdx.y * 32;
  if (kWay == Tensor) {
    if (lane == 0) {
      init_mbarrier(&full, 1);
      fence_mbarrier_init();
      expect(&full, 4096);
      load_tile(tile, &map, x, y, &full);
    }
    __syncwarp();
    wait_mbarrier(&full, 0);
  } else {
    for (int row = 0; row < 32; ++row) tile[place<kWay>(row, lane)] = in[size_t(y + row) * width + x + lane];
    __syncwarp();
  }
  Word sum[32] = {};
  for (int round = 0; round < rounds; ++round)  // the columns again and again, so that their time shows
#pragma unroll
    for (int column = 0; column < 32; ++column) sum[column] = sum[column] * 5 + static_cast<volatile Word*>(tile)[place<kWay>(lane, column)];
#pragma unroll
  for (int column = 0; column < 32; ++column) out[size_t(x + column) * width + y + lane] = sum[column];
}

int main(int argc, char** argv) {
  Experiment e(argc, argv);
  const int width = e.h200 ? 4096 : 96, rounds = e.h200 ? 64 : 2;
  const auto in = make_input(size_t(width) * width);
  std::vector<Word> want(in.size());
  for (int y = 0; y < width; ++y)
    for (int x = 0; x < width; ++x)
      for (int r = 0; r < rounds; ++r) want[size_t(x) * width + y] = want[size_t(x) * width + y] * 5 + in[size_t(y) * width + x];
  const DeviceArray<Word> from(in);
  DeviceArray<Word> to(in.size());
  const cuuint64_t dims[] = {cuuint64_t(width), cuuint64_t(width)}, strides[] = {4, cuuint64_t(width) * 4};
  const cuuint32_t box[] = {32, 32};
  const CUtensorMap map = tensor_map(from.get(), dims, strides, box, CU_TENSOR_MAP_SWIZZLE_128B);
  const auto run = [&](const char* name, auto kernel) {
    to.fill(0xA5);
    const double ms = e.time([&] { kernel<<<dim3(width / 32, width / 32), 32>>>(map, from.get(), to.get(), width, rounds); });
    const auto got = to.copy();
    e.report(name, got, got == want, ms);
  };
  run("rows of 32 words", transpose<Plain>);
  run("rows of 33 words", transpose<Padded>);
  run("xor of row and column", transpose<Xor>);
  run("bulk tensor, 128-byte swizzle", transpose<Tensor>);
  return e.finish();
}
