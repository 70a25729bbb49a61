// SPDX-License-Identifier: Apache-2.0
// flags: -lcufft
// ours only: it compares the library with itself and prints no numbers
// Plans made by cufftXtMakePlanMany do what plans made by cufftPlanMany do.
#include <cufftXt.h>

#include <cstring>
#include <vector>

#include "api.h"

namespace {
bool good = true;
void expect(bool right, const char* what) {
  if (right) return;
  std::printf("WRONG: %s\n", what);
  good = false;
}

// The same transform by both.
void compare(const char* what, cufftType type, cudaDataType in, cudaDataType out, cudaDataType arithmetic, int direction) {
  constexpr int kSize = 24, kBatch = 3;
  const size_t room = size_t{kSize} * kBatch * 16;
  char *from, *to[2];
  MUST(cudaMallocManaged(&from, room));
  for (char*& t : to) MUST(cudaMallocManaged(&t, room));
  const bool wide = arithmetic == CUDA_C_64F;
  for (size_t i = 0; i < room / (wide ? 8 : 4); ++i) {
    const double v = static_cast<double>(i * 37 % 101) / 7 - 5;
    if (wide)
      reinterpret_cast<double*>(from)[i] = v;
    else
      reinterpret_cast<float*>(from)[i] = static_cast<float>(v);
  }
  for (char* t : to) std::memset(t, 0, room);
  int n[1] = {kSize};
  long long m[1] = {kSize};
  cufftHandle plain, xt;
  size_t bytes = 0, asked = 0;
  expect(cufftPlanMany(&plain, 1, n, nullptr, 1, 0, nullptr, 1, 0, type, kBatch) == CUFFT_SUCCESS, what);
  expect(cufftCreate(&xt) == CUFFT_SUCCESS, what);
  expect(cufftXtGetSizeMany(xt, 1, m, nullptr, 1, 0, in, nullptr, 1, 0, out, kBatch, &asked, arithmetic) == CUFFT_SUCCESS, what);
  expect(cufftXtMakePlanMany(xt, 1, m, nullptr, 1, 0, in, nullptr, 1, 0, out, kBatch, &bytes, arithmetic) == CUFFT_SUCCESS, what);
  expect(asked == bytes, what);
  expect(cufftXtExec(plain, from, to[0], direction) == CUFFT_SUCCESS, what);
  expect(cufftXtExec(xt, from, to[1], direction) == CUFFT_SUCCESS, what);
  MUST(cudaDeviceSynchronize());
  std::vector<char> nothing(room, 0);
  expect(std::memcmp(to[0], nothing.data(), room) != 0, what);
  expect(std::memcmp(to[0], to[1], room) == 0, what);
  expect(cufftDestroy(plain) == CUFFT_SUCCESS && cufftDestroy(xt) == CUFFT_SUCCESS, what);
}
}  // namespace

int main() {
  compare("C2C", CUFFT_C2C, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_FORWARD);
  compare("C2C inverse", CUFFT_C2C, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_INVERSE);
  compare("R2C", CUFFT_R2C, CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_FORWARD);
  compare("C2R", CUFFT_C2R, CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, CUFFT_INVERSE);
  compare("Z2Z", CUFFT_Z2Z, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_FORWARD);
  compare("D2Z", CUFFT_D2Z, CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_FORWARD);
  compare("Z2D", CUFFT_Z2D, CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, CUFFT_INVERSE);
  cufftHandle plan;
  long long m[1] = {16};
  size_t bytes = 0;
  expect(cufftCreate(&plan) == CUFFT_SUCCESS, "create");
  expect(cufftXtExec(plan, &bytes, &bytes, CUFFT_FORWARD) == CUFFT_INVALID_PLAN, "a plan that is not made");
  expect(cufftXtMakePlanMany(plan, 1, m, nullptr, 1, 0, CUDA_C_32F, nullptr, 1, 0, CUDA_R_64F, 1, &bytes, CUDA_C_32F) != CUFFT_SUCCESS, "types that do not go together");
  std::puts(good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
