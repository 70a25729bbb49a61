// SPDX-License-Identifier: Apache-2.0
// Two devices of one process. Also valid on a machine with two peer-capable GPUs.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace {

const int two_devices = setenv("UNDERSTUDY_DEVICE", "h200,a100", 1);  // read at the first CUDA call

TEST(Peers, DevicesAreDistinct) {
  ASSERT_EQ(two_devices, 0);
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  ASSERT_GE(count, 2);
  cudaDeviceProp a, b;
  ASSERT_EQ(cudaGetDeviceProperties(&a, 0), cudaSuccess);
  ASSERT_EQ(cudaGetDeviceProperties(&b, 1), cudaSuccess);
  EXPECT_NE(std::memcmp(&a.uuid, &b.uuid, sizeof a.uuid), 0);
  EXPECT_NE(a.pciDeviceID * 1000 + a.pciBusID, b.pciDeviceID * 1000 + b.pciBusID);
}

TEST(Peers, EnableOnceDisableOnce) {
  int can = -1;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 0), cudaSuccess);
  EXPECT_EQ(can, 0);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}

TEST(Peers, CopyBetweenDevices) {
  int *from = nullptr, *to = nullptr;
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void **>(&from), 64), cudaSuccess);
  ASSERT_EQ(cudaMemset(from, 0x5a, 64), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void **>(&to), 64), cudaSuccess);
  ASSERT_EQ(cudaMemcpyPeer(to, 1, from, 0, 64), cudaSuccess);
  int host = 0;
  ASSERT_EQ(cudaMemcpy(&host, to + 15, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(host, 0x5a5a5a5a);
}

TEST(Channel, DescriptorIsWhatWasAskedFor) {
  const cudaChannelFormatDesc d = cudaCreateChannelDesc(32, 16, 8, 0, cudaChannelFormatKindFloat);
  EXPECT_EQ(d.x * 1000000 + d.y * 10000 + d.z * 100 + d.w, 32160800);
  EXPECT_EQ(d.f, cudaChannelFormatKindFloat);
}

}  // namespace
