// SPDX-License-Identifier: Apache-2.0
// Launches that are refused, and what they leave in the last error.
#include "api.h"

__global__ void plain(int* p) { if (p) *p = 1; }
__global__ void __launch_bounds__(128) bounded(int* p) { if (p) *p = 1; }
__global__ void big_static(int* p) {
  __shared__ int space[8192];
  space[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (p) *p = space[(threadIdx.x + 1) % blockDim.x];
}
extern __shared__ int dynamic[];
__global__ void with_dynamic(int* p) {
  dynamic[threadIdx.x] = 1;
  if (p) *p = dynamic[threadIdx.x];
}
__global__ void __cluster_dims__(2, 1, 1) paired(int* p) { if (p) *p = 1; }

template <class K>
cudaError_t launch(K kernel, dim3 grid, dim3 block, size_t shared) {
  kernel<<<grid, block, shared>>>(nullptr);
  const cudaError_t e = cudaGetLastError();
  const cudaError_t after = cudaDeviceSynchronize();
  return e != cudaSuccess ? e : after;
}

template <class K>
cudaError_t launch_cluster(K kernel, unsigned blocks, unsigned cluster) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  config.gridDim = blocks;
  config.blockDim = 32;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t e = cudaLaunchKernelEx(&config, kernel, static_cast<int*>(nullptr));
  const cudaError_t last = cudaGetLastError();
  std::printf("  last error %d; ", last);
  const cudaError_t after = cudaDeviceSynchronize();
  return e != cudaSuccess ? e : after;
}

cudaError_t launch_cooperative(unsigned blocks, unsigned threads) {
  int* p = nullptr;
  void* args[] = {&p};
  const cudaError_t e = cudaLaunchCooperativeKernel(reinterpret_cast<void*>(plain), dim3(blocks), dim3(threads), args, 0, nullptr);
  const cudaError_t after = cudaDeviceSynchronize();
  cudaGetLastError();
  return e != cudaSuccess ? e : after;
}

int main() {
  SHOW(launch(plain, 1, 1, 0));
  SHOW(launch(plain, 0, 1, 0));
  SHOW(launch(plain, 1, 0, 0));
  SHOW(launch(plain, dim3(1, 0, 1), 1, 0));
  SHOW(launch(plain, dim3(1, 1, 0), 1, 0));
  SHOW(launch(plain, 1, 1024, 0));
  SHOW(launch(plain, 1, 1025, 0));
  SHOW(launch(plain, 1, dim3(32, 33, 1), 0));
  SHOW(launch(plain, 1, dim3(1, 1, 64), 0));
  SHOW(launch(plain, 1, dim3(1, 1, 65), 0));
  SHOW(launch(plain, dim3(1, 65535, 1), 1, 0));
  SHOW(launch(plain, dim3(1, 65536, 1), 1, 0));
  SHOW(launch(plain, dim3(1, 1, 65536), 1, 0));
  SHOW(launch(plain, 0x80000000u, 1, 0));
  SHOW(launch(bounded, 1, 128, 0));
  SHOW(launch(bounded, 1, 129, 0));
  SHOW(launch(bounded, 1, 1024, 0));
  SHOW(launch(with_dynamic, 1, 32, 48 * 1024));
  SHOW(launch(with_dynamic, 1, 32, 48 * 1024 + 1));
  SHOW(launch(with_dynamic, 1, 32, 1 << 30));
  SHOW(cudaFuncSetAttribute(with_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  SHOW(launch(with_dynamic, 1, 32, 48 * 1024 + 1));
  SHOW(launch(with_dynamic, 1, 32, 232448));
  SHOW(launch(with_dynamic, 1, 32, 232449));
  SHOW(cudaFuncSetAttribute(with_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
  SHOW(cudaFuncSetAttribute(with_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(launch(big_static, 1, 32, 16 * 1024));
  SHOW(launch(big_static, 1, 32, 16 * 1024 + 1));
  SHOW(cudaFuncSetAttribute(big_static, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - 32768));
  SHOW(cudaFuncSetAttribute(big_static, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - 32767));
  SHOW(cudaGetLastError());

  SHOW(launch_cooperative(132, 1024));
  SHOW(launch_cooperative(264, 1024));
  SHOW(launch_cooperative(265, 1024));
  SHOW(launch_cooperative(132 * 32, 32));
  SHOW(launch_cooperative(132 * 32 + 1, 32));

  SHOW(launch_cluster(plain, 8, 2));
  SHOW(launch_cluster(plain, 8, 8));
  SHOW(launch_cluster(plain, 9, 2));
  SHOW(launch_cluster(plain, 16, 16));
  SHOW(launch_cluster(plain, 8, 0));
  SHOW(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  SHOW(launch_cluster(plain, 16, 16));
  SHOW(launch_cluster(plain, 32, 32));
  SHOW(launch(paired, 4, 32, 0));
  SHOW(launch(paired, 3, 32, 0));
  SHOW(launch_cluster(paired, 4, 2));
  SHOW(launch_cluster(paired, 4, 4));

  int not_a_kernel = 0;
  SHOW(cudaLaunchKernel(&not_a_kernel, 1, 1, nullptr, 0, nullptr));
  SHOW(cudaLaunchKernel(nullptr, 1, 1, nullptr, 0, nullptr));
  SHOW(cudaGetLastError());
  cudaFuncAttributes attributes;
  SHOW(cudaFuncGetAttributes(&attributes, &not_a_kernel));
  SHOW(cudaFuncSetAttribute(&not_a_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  SHOW(cudaFuncSetAttribute(plain, static_cast<cudaFuncAttribute>(1000), 1));
  SHOW(cudaFuncSetAttribute(plain, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  SHOW(cudaFuncSetAttribute(plain, cudaFuncAttributePreferredSharedMemoryCarveout, -2));
  SHOW(cudaFuncSetAttribute(plain, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  return 0;
}
