// SPDX-License-Identifier: Apache-2.0
// F4: eight warps on each multiprocessor read shared memory, lanes 1 to 32 words apart: conflicts of as many ways;
// rows of 33 words and exclusive or cure 32.
#include "effects.h"

constexpr int kReads = 2048;
enum class Cure { None, Padded, Swizzled };

template <int kStride, Cure kCure>
__global__ void __launch_bounds__(256) columns(unsigned* out, int step) {
  __shared__ volatile unsigned words[32 * 33];
  for (int i = threadIdx.x; i < 32 * 33; i += 256) words[i] = i;
  __syncthreads();
  const int lane = threadIdx.x % 32;
  const int base = kCure == Cure::Padded ? lane * 33 : lane * kStride % 1024 + lane * kStride / 1024;
  unsigned sum = 0;
#pragma unroll 16
  for (int k = 0; k < kReads; ++k) {
    const int column = (k * step) & 31;
    sum += words[kCure == Cure::Swizzled ? lane * 32 + (column ^ lane) : kStride == 32 ? base + column : (base + (column & ~(kStride - 1))) & 1023];
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

unsigned* to;
template <int kStride, Cure kCure = Cure::None>
void one(const char* name) {
  tell(name, microseconds(nullptr, [&] { columns<kStride, kCure><<<132, 256>>>(to, 1); }));
  std::vector<unsigned> got(256);
  MUST(cudaMemcpy(got.data(), to, 1024, cudaMemcpyDeviceToHost));
  for (int t = 0; t < 256; ++t) {
    const int lane = t % 32, base = kCure == Cure::Padded ? lane * 33 : lane * kStride % 1024 + lane * kStride / 1024;
    unsigned sum = 0;
    for (int k = 0; k < kReads; ++k) {
      const int column = k & 31;
      sum += kCure == Cure::Swizzled ? lane * 32 + (column ^ lane) : kStride == 32 ? base + column : (base + (column & ~(kStride - 1))) & 1023;
    }
    check(got[t] == sum, name);
  }
}

int main(int argc, char** argv) {
  arguments(argc, argv);
  MUST(cudaMalloc(&to, 132 * 256 * 4));
  one<1>("ways_1"), one<2>("ways_2"), one<4>("ways_4"), one<8>("ways_8"), one<16>("ways_16"), one<32>("ways_32");
  one<32, Cure::Padded>("padded"), one<32, Cure::Swizzled>("swizzled");
  std::puts("ok");
}
