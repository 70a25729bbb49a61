// SPDX-License-Identifier: Apache-2.0
// Names and texts of the errors, compared with those of the stock runtime where it is installed (it needs no GPU for
// that).
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

namespace {

TEST(ErrorText, NamesAreTheEnumerators) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST(ErrorText, EqualsTheStockRuntime) {
  void* stock = dlopen(US_STOCK_RUNTIME, RTLD_NOW | RTLD_LOCAL);
  if (!stock) GTEST_SKIP() << US_STOCK_RUNTIME << " is not installed";
  using Function = const char* (*)(cudaError_t);
  const auto name = reinterpret_cast<Function>(dlsym(stock, "cudaGetErrorName"));
  const auto text = reinterpret_cast<Function>(dlsym(stock, "cudaGetErrorString"));
  ASSERT_TRUE(name && text && name != cudaGetErrorName);
  for (int code = 0; code <= 10001; ++code) {
    const auto error = static_cast<cudaError_t>(code);
    EXPECT_STREQ(cudaGetErrorName(error), name(error)) << code;
    EXPECT_STREQ(cudaGetErrorString(error), text(error)) << code;
  }
}

}  // namespace
