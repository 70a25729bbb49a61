// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

namespace {

void* exported(const char* symbol) {
  void* found = dlsym(RTLD_DEFAULT, symbol);
  EXPECT_NE(found, nullptr) << symbol;
  return found;
}

void* proc(const char* base, int version, cuuint64_t flags = 0) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  EXPECT_EQ(cuGetProcAddress(base, &found, version, flags, &status), CUDA_SUCCESS);
  EXPECT_EQ(status == CU_GET_PROC_ADDRESS_SUCCESS, found != nullptr);
  return found;
}

TEST(DriverEntryPoint, VersionChoosesTheVariant) {
  EXPECT_EQ(proc("cuMemAlloc", 13000), exported("cuMemAlloc_v2"));
  EXPECT_EQ(proc("cuMemAlloc", 2010), exported("cuMemAlloc"));
  EXPECT_EQ(proc("cuCtxCreate", 11040), exported("cuCtxCreate_v3"));
  EXPECT_EQ(proc("cuCtxCreate", 12040), exported("cuCtxCreate_v3"));
  EXPECT_EQ(proc("cuCtxCreate", 13000), exported("cuCtxCreate_v4"));
  EXPECT_EQ(proc("cuGetProcAddress", 13000), exported("cuGetProcAddress_v2"));
  EXPECT_EQ(proc("cuTensorMapEncodeTiled", 12000), exported("cuTensorMapEncodeTiled"));
}

TEST(DriverEntryPoint, FlagsChooseTheDefaultStream) {
  EXPECT_EQ(proc("cuMemcpyHtoD", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM), exported("cuMemcpyHtoD_v2"));
  EXPECT_EQ(proc("cuMemcpyHtoD", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
            exported("cuMemcpyHtoD_v2_ptds"));
  EXPECT_EQ(proc("cuMemAlloc", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM), exported("cuMemAlloc_v2"));
}

TEST(DriverEntryPoint, SaysWhyThereIsNone) {
  void* found = &found;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  EXPECT_EQ(cuGetProcAddress("cuNoSuchThing", &found, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(cuGetProcAddress("cuTensorMapEncodeTiled", &found, 11000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(cuGetProcAddress("cuInit", &found, 99000, 0, &status), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress(nullptr, &found, 13000, 0, &status), CUDA_ERROR_INVALID_VALUE);
}

TEST(DriverEntryPoint, ThroughTheRuntime) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuDeviceGetName", &found, 12000, cudaEnableDefault, &status),
            cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  ASSERT_NE(found, nullptr);
  char name[64];
  ASSERT_EQ(reinterpret_cast<CUresult (*)(char*, int, CUdevice)>(found)(name, sizeof name, 0), CUDA_SUCCESS);
  EXPECT_EQ(std::string(name).substr(0, 6), "NVIDIA");
  EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuStreamQuery", &found, 13000, cudaEnablePerThreadDefaultStream, &status),
            cudaSuccess);
  EXPECT_EQ(found, exported("cuStreamQuery_ptsz"));
}

}  // namespace
