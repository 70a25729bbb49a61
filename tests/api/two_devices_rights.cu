// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Memory of one device in kernels, copies and sets of another: with and without peer access, rights of pools and of
// mappings. On a real machine: two GPUs that can be peers. Each case is a process of its own: a fault is the end of it.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "cu.h"

__attribute__((constructor(101))) static void choose() { setenv("UNDERSTUDY_DEVICES", "2", 1); }

__device__ int variable = 5;
enum Way { kLoad, kStore, kAdd, kVector, kByte, kAsync, kBulk };
__global__ void touch(Way way, int* p, int* out) {
  __shared__ alignas(128) int box[4];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(box)), at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  switch (way) {
    case kLoad: *out = *static_cast<volatile int*>(p); break;
    case kStore: *static_cast<volatile int*>(p) = 7; break;
    case kAdd: *out = atomicAdd(p, 1); break;
    case kVector: *out = reinterpret_cast<int4*>(p)->y; break;
    case kByte: *out = *reinterpret_cast<volatile char*>(p); break;
    case kAsync:
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\ncp.async.wait_all;" ::"r"(to), "l"(p) : "memory");
      *out = box[0];
      break;
    case kBulk:
      asm volatile("mbarrier.init.shared.b64 [%0], 1;\nmbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(at) : "memory");
      asm volatile("fence.proxy.async;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(to), "l"(p), "r"(at) : "memory");
      for (int done = 0; !done;)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
      *out = box[0];
  }
}

template <typename Body>
void in_process(const char* name, Body body) {
  std::fflush(stdout);
  if (const pid_t child = fork(); child == 0) {
    std::printf("%-70s", name);
    body();
    std::printf("\n");
    std::fflush(stdout);
    _exit(0);
  } else {
    int status = 0;
    waitpid(child, &status, 0);
    if (status) std::printf(" ended with %d\n", status);
  }
}
void say(cudaError_t e) { std::printf(" %s", e == cudaSuccess ? "ok" : cudaGetErrorName(e)); }
void say(CUresult e) { std::printf(" %d", e); }

int* allocate(int device) {
  int* p;
  MUST(cudaSetDevice(device));
  MUST(cudaMalloc(&p, 1 << 20));
  MUST(cudaMemset(p, 1, 1 << 20));
  MUST(cudaDeviceSynchronize());
  return p;
}
// A kernel of device 1.
void visit(int* p, Way way = kLoad) {
  int* out = allocate(1);
  touch<<<1, 1>>>(way, p, out);
  say(cudaGetLastError());
  say(cudaDeviceSynchronize());
}

int* map(CUmemAccess_flags zero, CUmemAccess_flags one) {
  const size_t unit = 2u << 20;
  CUmemAllocationProp prop = {};
  CUmemGenericAllocationHandle h;
  CUdeviceptr at;
  MUST(cudaSetDevice(1));
  MUST(cudaFree(nullptr));
  MUST(cudaSetDevice(0));
  MUST(cudaFree(nullptr));
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUresult e = cuMemCreate(&h, unit, &prop, 0);
  if (!e) e = cuMemAddressReserve(&at, unit, 0, 0, 0);
  if (!e) e = cuMemMap(at, unit, 0, h, 0);
  for (int i = 0; i < 2 && !e; ++i) {
    CUmemAccessDesc a = {};
    a.location = {CU_MEM_LOCATION_TYPE_DEVICE, i};
    a.flags = i ? one : zero;
    if (a.flags) e = cuMemSetAccess(at, unit, &a, 1);
  }
  if (e) say(e);
  return reinterpret_cast<int*>(at);
}

int main() {
  const auto none = CU_MEM_ACCESS_FLAGS_PROT_NONE, read = CU_MEM_ACCESS_FLAGS_PROT_READ, all = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const char* const ways[] = {"load", "store", "atomic", "vector load", "byte load", "cp.async", "bulk copy"};
  for (int way = kLoad; way <= kBulk; ++way)
    in_process(ways[way], [&] { visit(allocate(0), static_cast<Way>(way)); });
  in_process("peer access enabled", [] {
    int* p = allocate(0);
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceEnablePeerAccess(0, 0));
    visit(p);
    visit(p, kStore);
  });
  in_process("peer access enabled, then allocated", [] {
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceEnablePeerAccess(0, 0));
    visit(allocate(0));
  });
  in_process("peer access enabled the other way", [] {
    int* p = allocate(0);
    MUST(cudaDeviceEnablePeerAccess(1, 0));
    visit(p);
  });
  in_process("peer access enabled and disabled", [] {
    int* p = allocate(0);
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceEnablePeerAccess(0, 0));
    visit(p);
    MUST(cudaDeviceDisablePeerAccess(0));
    visit(p);
  });
  for (const bool peers : {false, true})
    in_process(peers ? "a variable, peers" : "a variable", [&] {
      void* p;
      MUST(cudaSetDevice(0));
      MUST(cudaGetSymbolAddress(&p, variable));
      MUST(cudaSetDevice(1));
      if (peers) MUST(cudaDeviceEnablePeerAccess(0, 0));
      visit(static_cast<int*>(p));
    });
  for (int how = 0; how < 4; ++how)
    in_process(how == 0 ? "from a pool" : how == 1 ? "from a pool, peers" : how == 2 ? "from a pool that device 1 may read and write" : "from a pool that it might once", [&] {
      int* p;
      cudaMemPool_t pool;
      MUST(cudaSetDevice(0));
      MUST(cudaDeviceGetDefaultMemPool(&pool, 0));
      cudaMemAccessDesc a = {};
      a.location.type = cudaMemLocationTypeDevice;
      a.location.id = 1;
      a.flags = cudaMemAccessFlagsProtReadWrite;
      if (how >= 2) MUST(cudaMemPoolSetAccess(pool, &a, 1));
      MUST(cudaMallocAsync(&p, 1 << 20, cudaStreamPerThread));
      MUST(cudaStreamSynchronize(cudaStreamPerThread));
      a.flags = cudaMemAccessFlagsProtNone;
      if (how == 3) MUST(cudaMemPoolSetAccess(pool, &a, 1));
      MUST(cudaSetDevice(1));
      if (how == 1) MUST(cudaDeviceEnablePeerAccess(0, 0));
      visit(p);
    });
  in_process("mapped for 0", [&] { visit(map(all, none)); });
  in_process("mapped for 0, peers", [&] {
    int* p = map(all, none);
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceEnablePeerAccess(0, 0));
    visit(p);
  });
  in_process("mapped for both", [&] { visit(map(all, all), kStore); });
  in_process("mapped for 1 only", [&] { visit(map(none, all), kStore); });
  in_process("mapped for 1 to read: load", [&] { visit(map(all, read)); });
  in_process("mapped for 1 to read: store", [&] { visit(map(all, read), kStore); });
  in_process("mapped for both to read: store", [&] { visit(map(read, read), kStore); });
  in_process("managed memory", [] {
    int* p;
    MUST(cudaSetDevice(0));
    MUST(cudaMallocManaged(&p, 4096));
    visit(p, kStore);
  });
  in_process("pinned memory", [] {
    int* p;
    MUST(cudaSetDevice(0));
    MUST(cudaMallocHost(&p, 4096));
    visit(p, kStore);
  });
  const auto copies = [](int* a) {
    int* b = allocate(1);
    cudaStream_t s;
    MUST(cudaStreamCreate(&s));
    say(cudaMemcpyPeer(b, 1, a, 0, 4096));
    say(cudaMemcpyPeer(a, 0, b, 1, 4096));
    say(cudaMemcpyPeer(b, 0, a, 1, 4096));
    say(cudaMemcpyPeerAsync(b, 1, a, 0, 4096, s));
    say(cudaMemcpy(b, a, 4096, cudaMemcpyDefault));
    say(cudaMemcpy(a, b, 4096, cudaMemcpyDeviceToDevice));
    say(cudaMemcpyAsync(b, a, 4096, cudaMemcpyDefault, s));
    say(cudaMemcpy2DAsync(b, 64, a, 64, 32, 4, cudaMemcpyDefault, s));
    std::printf(" |");
    say(cudaMemset(a, 0, 4096));
    say(cudaMemsetAsync(a, 0, 4096, s));
    int host[4];
    say(cudaMemcpy(host, a, 16, cudaMemcpyDeviceToHost));
    say(cudaMemcpyAsync(host, a, 16, cudaMemcpyDefault, s));
    say(cudaDeviceSynchronize());
  };
  in_process("copies", [&] { copies(allocate(0)); });
  in_process("copies, peers", [&] {
    int* p = allocate(0);
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceEnablePeerAccess(0, 0));
    copies(p);
  });
  in_process("copies of what is mapped for 0", [&] { copies(map(all, none)); });
  in_process("copies of what is mapped for both", [&] { copies(map(all, all)); });
  in_process("copies of what 1 may read", [&] { copies(map(all, read)); });
  return 0;
}
