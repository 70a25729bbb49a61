// SPDX-License-Identifier: Apache-2.0
// Prints facts of the device that headers and manuals leave open: special registers, addresses, limits, occupancy,
// clusters, the errors of bad launches, what comes after a fault. Its output on an H200 is device_facts.txt.
//   device_facts [facts | fault N]
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

static const char* name(cudaError_t e) { return cudaGetErrorName(e); }
static void drop_error() { (void)cudaGetLastError(); }

extern __shared__ uint32_t dynamic[];

__global__ void registers(uint64_t* out) {
  __shared__ uint32_t fixed[4];
  int local[4] = {int(blockIdx.x), 1, 2, 3};
  int k = 0;
#define READ32(r) { uint32_t v; asm volatile("mov.u32 %0, %%" #r ";" : "=r"(v)); out[k++] = v; }
#define READ_PREDICATE(r) { uint32_t v; asm volatile("{ .reg .pred p; mov.pred p, %%" #r "; selp.u32 %0, 1, 0, p; }" : "=r"(v)); out[k++] = v; }
#define READ64(r) { uint64_t v; asm volatile("mov.u64 %0, %%" #r ";" : "=l"(v)); out[k++] = v; }
  READ32(nsmid) READ32(nwarpid) READ32(total_smem_size) READ32(dynamic_smem_size) READ32(aggr_smem_size)
  READ_PREDICATE(is_explicit_cluster) READ32(cluster_nctarank) READ32(envreg0) READ32(envreg3) READ64(current_graph_exec)
  READ32(reserved_smem_offset_begin) READ32(reserved_smem_offset_end) READ32(reserved_smem_offset_cap)
  out[k++] = uint32_t(__cvta_generic_to_shared(fixed));
  out[k++] = uint32_t(__cvta_generic_to_shared(dynamic));
  out[k++] = reinterpret_cast<uint64_t>(fixed) & 0xffffff;
  out[k++] = __isShared(fixed) + 2 * __isLocal(local) + 4 * __isGlobal(out) + 8 * __isShared(out) + 16 * __isGlobal(nullptr);
  fixed[0] = local[out[0] & 3];
  dynamic[0] = fixed[0];
}
static const char* register_names[] = {"nsmid", "nwarpid", "total_smem_size", "dynamic_smem_size", "aggr_smem_size", "is_explicit_cluster",
                                       "cluster_nctarank", "envreg0", "envreg3", "current_graph_exec", "reserved_smem_offset_begin",
                                       "reserved_smem_offset_end", "reserved_smem_offset_cap", "address of static shared", "address of dynamic shared",
                                       "generic static shared, low 24 bits", "isspacep bits"};

__global__ void tiny(int* p) { if (p) *p = 1; }
__global__ void uses_dynamic(int* p) { if (p) *p = int(dynamic[0]); }
__global__ void __launch_bounds__(128) bounded(int* p) { if (p) *p = 1; }
__global__ void __cluster_dims__(4) clustered(int* p) { if (p) *p = 1; }
__global__ void store_wild(int* p) { *p = 1; }
__global__ void trap(int*) { __trap(); }

static void limits() {
  const struct { const char* name; cudaLimit id; } all[] = {{"stack", cudaLimitStackSize}, {"printf fifo", cudaLimitPrintfFifoSize}, {"malloc heap", cudaLimitMallocHeapSize},
      {"dev runtime sync depth", cudaLimitDevRuntimeSyncDepth}, {"dev runtime pending launches", cudaLimitDevRuntimePendingLaunchCount},
      {"max L2 fetch granularity", cudaLimitMaxL2FetchGranularity}, {"persisting L2", cudaLimitPersistingL2CacheSize}};
  for (const auto& l : all) {
    size_t v = 0;
    cudaError_t e = cudaDeviceGetLimit(&v, l.id);
    std::printf("limit %s: %s %zu", l.name, name(e), v);
    for (size_t want : {size_t(1), size_t(1000), size_t(1) << 20}) {
      e = cudaDeviceSetLimit(l.id, want);
      cudaDeviceGetLimit(&v, l.id);
      std::printf("; set %zu: %s %zu", want, name(e), v);
    }
    std::printf("\n");
    drop_error();
  }
}

static void allocations() {
  char* p[6];
  for (auto& q : p) cudaMalloc(&q, 1);
  std::printf("allocations of 1 byte:");
  for (int k = 1; k < 6; ++k) std::printf(" +%td", p[k] - p[k - 1]);
  std::printf("; low bits %llx\n", (unsigned long long)(uintptr_t(p[0]) & 0x1fffff));
  for (auto q : p) cudaFree(q);
  for (size_t width : {1, 100, 512, 513, 4000}) {
    void* q;
    size_t pitch = 0;
    cudaError_t e = cudaMallocPitch(&q, &pitch, width, 10);
    std::printf("pitch of %zu: %s %zu\n", width, name(e), pitch);
    cudaFree(q);
  }
  void* none = &none;
  std::printf("malloc 0: %s %s\n", name(cudaMalloc(&none, 0)), none == nullptr ? "null" : "not null");
  std::printf("malloc 1 << 50: %s\n", name(cudaMalloc(&none, size_t(1) << 50)));
  drop_error();
  int on_stack = 0;
  std::printf("free of a stack address: %s\n", name(cudaFree(&on_stack)));
  drop_error();
  std::printf("free of null: %s\n", name(cudaFree(nullptr)));
  char *twice, *inner;
  cudaMalloc(&twice, 4096);
  inner = twice + 256;
  std::printf("free of an inner address: %s\n", name(cudaFree(inner)));
  drop_error();
  std::printf("copy past the end: %s\n", name(cudaMemset(twice, 0, size_t(1) << 32)));
  drop_error();
  std::printf("free: %s", name(cudaFree(twice)));
  std::printf(", again: %s\n", name(cudaFree(twice)));
  drop_error();
}

static void occupancy() {
  for (size_t shared : {0, 1024, 8 * 1024, 16 * 1024, 32 * 1024, 48 * 1024}) {
    std::printf("blocks per SM with %zu bytes of dynamic shared memory:", shared);
    for (int threads : {1, 32, 64, 96, 128, 256, 384, 512, 768, 1024}) {
      int n = 0;
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, uses_dynamic, threads, shared);
      std::printf(" %d:%d", threads, n);
    }
    std::printf("\n");
  }
  cudaFuncSetAttribute(uses_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024);
  for (int kb : {64, 100, 113, 114, 227}) {
    int n = 0;
    cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, uses_dynamic, 128, kb * 1024);
    size_t available = 0;
    cudaOccupancyAvailableDynamicSMemPerBlock(&available, uses_dynamic, 2, 128);
    std::printf("%d KB: %s %d; available for 2 blocks: %zu\n", kb, name(e), n, available);
  }
  int grid = 0, block = 0;
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, tiny, 0, 0);
  std::printf("potential block size: %d x %d\n", grid, block);
  cudaFuncAttributes a{};
  cudaFuncGetAttributes(&a, uses_dynamic);
  std::printf("attributes: shared %zu const %zu local %zu maxThreads %d ptx %d binary %d maxDynamic %d carveout %d cluster %d %d\n", a.sharedSizeBytes, a.constSizeBytes, a.localSizeBytes,
              a.maxThreadsPerBlock, a.ptxVersion, a.binaryVersion, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout, a.clusterDimMustBeSet, a.nonPortableClusterSizeAllowed);
  for (int carve : {-1, 0, 10, 50, 100}) {
    cudaError_t e = cudaFuncSetAttribute(tiny, cudaFuncAttributePreferredSharedMemoryCarveout, carve);
    cudaFuncGetAttributes(&a, tiny);
    std::printf("carveout %d: %s %d\n", carve, name(e), a.preferredShmemCarveout);
    drop_error();
  }
  for (int allow : {0, 1}) {
    cudaFuncSetAttribute(uses_dynamic, cudaFuncAttributeNonPortableClusterSizeAllowed, allow);
    for (size_t kb : {0, 100, 200}) {
      std::printf("active clusters, %zu KB, non-portable %d:", kb, allow);
      for (unsigned size : {1u, 2u, 3u, 4u, 6u, 8u, 9u, 12u, 16u, 17u}) {
        cudaLaunchConfig_t c{};
        cudaLaunchAttribute at{};
        at.id = cudaLaunchAttributeClusterDimension;
        at.val.clusterDim.x = size, at.val.clusterDim.y = at.val.clusterDim.z = 1;
        c.gridDim = dim3(size * 100), c.blockDim = dim3(256), c.dynamicSmemBytes = kb * 1024, c.attrs = &at, c.numAttrs = 1;
        int n = -1;
        cudaError_t e = cudaOccupancyMaxActiveClusters(&n, uses_dynamic, &c);
        std::printf(" %u:%d%s%s", size, n, e ? " " : "", e ? name(e) : "");
        drop_error();
      }
      std::printf("\n");
    }
  }
  cudaLaunchConfig_t c{};
  c.gridDim = dim3(1600), c.blockDim = dim3(256);
  int best = 0;
  cudaError_t e = cudaOccupancyMaxPotentialClusterSize(&best, uses_dynamic, &c);
  std::printf("potential cluster size: %s %d\n", name(e), best);
}

template <typename... A>
static void attempt(const char* what, void (*kernel)(A...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream = nullptr) {
  kernel<<<grid, block, shared, stream>>>(nullptr);
  const cudaError_t launch = cudaGetLastError();
  std::printf("launch %s: %s, then %s\n", what, name(launch), name(cudaDeviceSynchronize()));
  drop_error();
}

static void bad_launches() {
  attempt("0 blocks", tiny, dim3(0), dim3(32), 0);
  attempt("0 threads", tiny, dim3(1), dim3(0), 0);
  attempt("1025 threads", tiny, dim3(1), dim3(1025), 0);
  attempt("65 in z", tiny, dim3(1), dim3(1, 1, 65), 0);
  attempt("32x33 threads", tiny, dim3(1), dim3(32, 33), 0);
  attempt("65536 in grid y", tiny, dim3(1, 65536), dim3(1), 0);
  attempt("65536 in grid z", tiny, dim3(1, 1, 65536), dim3(1), 0);
  attempt("2^31 blocks", tiny, dim3(0x80000000u), dim3(1), 0);
  attempt("129 threads of bounds 128", bounded, dim3(1), dim3(129), 0);
  attempt("50 KB shared", tiny, dim3(1), dim3(32), 50 * 1024);
  attempt("228 KB shared", uses_dynamic, dim3(1), dim3(32), 228 * 1024);
  attempt("cluster of 4, grid 6", clustered, dim3(6), dim3(32), 0);
  attempt("cluster of 4, grid 8", clustered, dim3(8), dim3(32), 0);
  for (unsigned size : {3u, 9u, 16u}) {
    cudaLaunchConfig_t c{};
    cudaLaunchAttribute at{};
    at.id = cudaLaunchAttributeClusterDimension;
    at.val.clusterDim.x = size, at.val.clusterDim.y = at.val.clusterDim.z = 1;
    c.gridDim = dim3(size * 2), c.blockDim = dim3(64), c.attrs = &at, c.numAttrs = 1;
    const cudaError_t e = cudaLaunchKernelEx(&c, tiny, static_cast<int*>(nullptr));
    std::printf("launch cluster of %u: %s, then %s\n", size, name(e), name(cudaDeviceSynchronize()));
    drop_error();
  }
  const void* nobody = reinterpret_cast<const void*>(0x1234);
  std::printf("launch of no kernel: %s\n", name(cudaLaunchKernel(nobody, dim3(1), dim3(1), nullptr, 0, nullptr)));
  drop_error();
}

static void streams() {
  int least = 9, greatest = 9;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  std::printf("priorities: %d to %d\n", least, greatest);
  for (int p : {-100, -5, 3}) {
    cudaStream_t s;
    int got = 9;
    cudaError_t e = cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, p);
    cudaStreamGetPriority(s, &got);
    std::printf("priority %d: %s %d\n", p, name(e), got);
    cudaStreamDestroy(s);
  }
  int value = 0;
  cudaPointerAttributes at{};
  std::printf("attributes of a stack address: %s", name(cudaPointerGetAttributes(&at, &value)));
  std::printf(" type %d device %d\n", at.type, at.device);
  void* p;
  cudaMallocManaged(&p, 64);
  cudaPointerGetAttributes(&at, p);
  std::printf("attributes of managed memory: type %d device %d same %d %d\n", at.type, at.device, at.devicePointer == p, at.hostPointer == p);
  cudaMallocHost(&p, 64);
  cudaPointerGetAttributes(&at, p);
  std::printf("attributes of pinned memory: type %d device %d same %d %d\n", at.type, at.device, at.devicePointer == p, at.hostPointer == p);
  cudaMalloc(&p, 64);
  cudaPointerGetAttributes(&at, static_cast<char*>(p) + 10);
  std::printf("attributes of device memory: type %d device %d offset %td host null %d\n", at.type, at.device, static_cast<char*>(at.devicePointer) - static_cast<char*>(p), at.hostPointer == nullptr);
}

__global__ void print_odd() {
  printf("[%.*f] [%*.*f]\n", 2, 9.876, 8, 2, 9.876);
  printf("[%hd] [%hu]\n", short(-3), (unsigned short)65535);
  printf("[%hhd]\n", 65);
  printf("[%a] [%zu] [%jd] [%td]\n", 1.0, size_t(5), (long long)6, (long long)7);
  printf("[%5s|%-5s|%c]\n", "ab", "cd", 'e');
  printf("[%q] [%d]\n", 1, 2);
  printf("[%lf]\n", 1.5);
  printf("missing [%d] [%d]\n", 1);
  printf("%p %p\n", (void*)0x1234, (void*)nullptr);
  const int n = printf("%d %d %d\n", 1, 2, 3);
  printf("returned %d, then %d\n", n, printf("plain\n"));
  printf("%s\n", (const char*)nullptr);
}

static void facts() {
  uint64_t *out, host[32] = {};
  cudaMalloc(&out, sizeof host);
  for (int shared : {16, 1000, 40000}) {
    registers<<<1, 64, shared>>>(out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("special registers with %d bytes of dynamic shared memory:\n", shared);
    for (size_t k = 0; k < sizeof register_names / sizeof *register_names; ++k) std::printf("  %s: %llu (0x%llx)\n", register_names[k], (unsigned long long)host[k], (unsigned long long)host[k]);
  }
  allocations();
  occupancy();
  bad_launches();
  streams();
  print_odd<<<1, 1>>>();
  cudaDeviceSynchronize();
  std::fflush(stdout);
  limits();
}

// What a process can still do after a fault.
static void after_fault(int kind) {
  int* p;
  void* host = nullptr;
  cudaMalloc(&p, 4096);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  if (kind == 0) store_wild<<<1, 1>>>(reinterpret_cast<int*>(16));
  else if (kind == 1) trap<<<1, 1>>>(nullptr);
  else store_wild<<<1, 1>>>(reinterpret_cast<int*>(reinterpret_cast<char*>(p) + 1));
  std::printf("launch: %s\n", name(cudaPeekAtLastError()));
  std::printf("synchronise: %s\n", name(cudaDeviceSynchronize()));
  std::printf("peek: %s\n", name(cudaPeekAtLastError()));
  std::printf("get: %s, again: ", name(cudaGetLastError()));
  std::printf("%s\n", name(cudaGetLastError()));
  std::printf("memcpy: %s\n", name(cudaMemcpy(p, &kind, 4, cudaMemcpyHostToDevice)));
  std::printf("free: %s\n", name(cudaFree(p)));
  std::printf("malloc host: %s\n", name(cudaMallocHost(&host, 64)));
  std::printf("stream query: %s, destroy: ", name(cudaStreamQuery(stream)));
  std::printf("%s\n", name(cudaStreamDestroy(stream)));
  int count = 0;
  cudaDeviceProp prop;
  std::printf("device count: %s, properties: ", name(cudaGetDeviceCount(&count)));
  std::printf("%s, set device: ", name(cudaGetDeviceProperties(&prop, 0)));
  std::printf("%s\n", name(cudaSetDevice(0)));
  tiny<<<1, 1>>>(nullptr);
  std::printf("another launch: %s\n", name(cudaGetLastError()));
  std::printf("reset: %s\n", name(cudaDeviceReset()));
  std::printf("get: %s\n", name(cudaGetLastError()));
  for (int k = 0; k < 12; ++k) {
    const cudaError_t e = cudaMalloc(&p, 4096);
    std::printf("malloc after %d ms: %s\n", k * 250, name(e));
    if (e == cudaSuccess) {
      tiny<<<1, 1>>>(p);
      std::printf("launch: %s\n", name(cudaDeviceSynchronize()));
      break;
    }
    usleep(250000);
    if (k == 5) std::printf("second reset: %s\n", name(cudaDeviceReset()));
  }
}

int main(int argc, char** argv) {
  if (argc > 2 && !std::strcmp(argv[1], "fault")) after_fault(std::atoi(argv[2]));
  else facts();
  return 0;
}
