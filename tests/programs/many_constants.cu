// SPDX-License-Identifier: Apache-2.0
// More different constants in one kernel than the compiler keeps in its usual place, of 32 and 64 bits.
#include "program.h"
using namespace program;

constexpr int kSteps = 2600, kThreads = 96;

template <typename T>
__host__ __device__ T mixed(T x) {
#pragma unroll
  for (int k = 0; k < kSteps; ++k) x = (x ^ (T(k + 1) * T(0x9e3779b97f4a7c15))) + (x >> 7);
  return x;
}

__global__ void words(uint32_t* out) { out[threadIdx.x] = mixed<uint32_t>(threadIdx.x * 77); }
__global__ void wide_words(uint64_t* out) { out[threadIdx.x] = mixed<uint64_t>(threadIdx.x * 0x123456789ull); }

template <typename T>
void compare(const char* name, void (*kernel)(T*), T factor) {
  T* out;
  MUST(cudaMalloc(&out, kThreads * sizeof(T)));
  kernel<<<1, kThreads>>>(out);
  MUST_RUN();
  std::vector<T> got(kThreads), want;
  MUST(cudaMemcpy(got.data(), out, kThreads * sizeof(T), cudaMemcpyDeviceToHost));
  for (int t = 0; t < kThreads; ++t) want.push_back(mixed<T>(T(t) * factor));
  all_passed() = all_passed() && got == want;
  std::printf("%s: %016llx %s\n", name, static_cast<unsigned long long>(hash(got)), got == want ? "equal" : "DIFFER");
}

int main() {
  compare<uint32_t>("32 bits", words, 77);
  compare<uint64_t>("64 bits", wide_words, 0x123456789ull);
  std::printf(all_passed() ? "PASS\n" : "FAIL\n");
}
