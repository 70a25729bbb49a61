// SPDX-License-Identifier: Apache-2.0
// What calls return in a child forked from a parent that has used CUDA to some extent. Each call has a child of its
// own, which ends by exit(); each state of the parent is a process of its own.
// flags: -lcuda
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "cu.h"

__global__ void store(int* p, int v) { *p = v; }
__device__ int variable;

namespace {

struct Parent {
  int* memory = nullptr;
  void* pinned = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  CUcontext context = nullptr;
} parent;

// Runs f in a child and waits; a child that hangs is ended by its alarm.
template <class F>
void in_child(F&& f) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    f();
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) std::printf("  the child ended with %#x\n", status);
}
#define CHILD(call) in_child([] { SHOW(call); })
#define CHILD_CU(call) in_child([] { CU(call); })

void devices() {
  in_child([] {
    int n = -1;
    SHOW(cudaGetDeviceCount(&n));
    VALUE(n);
    SHOW(cudaPeekAtLastError());
    SHOW(cudaGetLastError());
    SHOW(cudaGetLastError());
  });
  in_child([] {
    int version = -1;
    SHOW(cudaRuntimeGetVersion(&version));
    SHOW(cudaDriverGetVersion(&version));
    VALUE(version > 0);
  });
  in_child([] {
    int device = -1;
    SHOW(cudaGetDevice(&device));
    VALUE(device);
  });
  static cudaDeviceProp properties;
  static int value;
  static char text[64];
  CHILD(cudaSetDevice(0));
  CHILD(cudaGetDeviceProperties(&properties, 0));
  CHILD(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  CHILD(cudaDeviceGetPCIBusId(text, sizeof text, 0));
  CHILD(cudaDeviceSynchronize());
  CHILD(cudaDeviceReset());
  CHILD(cudaSetDeviceFlags(0));
}

void memory() {
  static int* p;
  static void* host;
  static size_t bytes;
  static int x;
  static cudaPointerAttributes attributes;
  CHILD(cudaMalloc(&p, 4));
  CHILD(cudaMallocHost(&host, 4));
  CHILD(cudaMallocManaged(&p, 4));
  CHILD(cudaMemGetInfo(&bytes, &bytes));
  CHILD(cudaMemcpyToSymbol(variable, &x, 4));
  CHILD(cudaFree(nullptr));
  if (!parent.memory) return;
  CHILD(cudaMemcpy(&x, parent.memory, 4, cudaMemcpyDeviceToHost));
  CHILD(cudaMemcpyAsync(parent.memory, &x, 4, cudaMemcpyHostToDevice, parent.stream));
  CHILD(cudaMemset(parent.memory, 0, 4));
  CHILD(cudaFree(parent.memory));
  CHILD(cudaFreeHost(parent.pinned));
  CHILD(cudaPointerGetAttributes(&attributes, parent.memory));
}

void work() {
  in_child([] {
    int* own = parent.memory;
    if (!own) SHOW(cudaMalloc(&own, 4));
    store<<<1, 1>>>(own, 2);
    SHOW(cudaPeekAtLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaGetLastError());
    SHOW(cudaGetLastError());
  });
  static cudaStream_t stream;
  static cudaEvent_t event;
  static cudaFuncAttributes attributes;
  static cudaGraph_t graph;
  static int blocks;
  CHILD(cudaStreamCreate(&stream));
  CHILD(cudaEventCreate(&event));
  CHILD(cudaFuncGetAttributes(&attributes, store));
  CHILD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, store, 32, 0));
  CHILD(cudaStreamSynchronize(nullptr));
  CHILD(cudaGraphCreate(&graph, 0));
  if (!parent.memory) return;
  CHILD(cudaStreamSynchronize(parent.stream));
  CHILD(cudaStreamQuery(parent.stream));
  CHILD(cudaStreamDestroy(parent.stream));
  CHILD(cudaEventRecord(parent.event, parent.stream));
}

void driver() {
  static int value;
  static CUdevice device;
  static char text[64];
  static CUcontext context;
  static CUdeviceptr memory;
  static CUmodule module;
  static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
  in_child([] {
    CU(cuInit(0));
    CU(cuInit(0));
    CU(cuDeviceGetCount(&value));
  });
  CHILD_CU(cuDriverGetVersion(&value));
  CHILD_CU(cuDeviceGetCount(&value));
  CHILD_CU(cuDeviceGet(&device, 0));
  CHILD_CU(cuDeviceGetName(text, sizeof text, 0));
  CHILD_CU(cuCtxGetCurrent(&context));
  CHILD_CU(cuCtxSynchronize());
  CHILD_CU(cuDevicePrimaryCtxRetain(&context, 0));
  CHILD_CU(cuCtxCreate(&context, nullptr, 0, 0));
  CHILD_CU(cuCtxSetCurrent(nullptr));
  CHILD_CU(cuMemAlloc(&memory, 4));
  CHILD_CU(cuModuleLoadData(&module, ptx));
  CHILD_CU(cuStreamSynchronize(nullptr));
  in_child([] {
    const char* name = nullptr;
    const CUresult known = cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &name);
    std::printf("%d %s\n", known, name);
    void* f = nullptr;
    CU(cuGetProcAddress("cuDeviceGetCount", &f, 12000, 0, nullptr));
    VALUE(f != nullptr);
    if (f) CU(reinterpret_cast<CUresult (*)(int*)>(f)(&value));
  });
  in_child([] {
    void* f = nullptr;
    cudaDriverEntryPointQueryResult found;
    SHOW(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", &f, 12000, 0, &found));
    VALUE(f != nullptr);
  });
}

void title(const char* text) { std::printf("-- %s\n", text); }

void look(const char* state) {
  title(state);
  devices();
  memory();
  work();
  driver();
}

int state(const char* name) {
  const auto is = [name](const char* known) { return std::strcmp(name, known) == 0; };
  if (is("versions")) {
    int v = 0;
    MUST(cudaDriverGetVersion(&v));
    MUST(cudaRuntimeGetVersion(&v));
  } else if (is("cuInit")) {
    CU(cuInit(0));
  } else if (is("count")) {
    int n = 0;
    MUST(cudaGetDeviceCount(&n));
  } else if (is("context")) {
    MUST(cudaMalloc(&parent.memory, 4));
    MUST(cudaMallocHost(&parent.pinned, 4));
    MUST(cudaStreamCreate(&parent.stream));
    MUST(cudaEventCreate(&parent.event));
    store<<<1, 1>>>(parent.memory, 1);
    MUST(cudaDeviceSynchronize());
  }
  look(name);
  int x = 0;
  if (!parent.memory) MUST(cudaMalloc(&parent.memory, 4));
  store<<<1, 1>>>(parent.memory, 3);
  MUST(cudaMemcpy(&x, parent.memory, 4, cudaMemcpyDeviceToHost));
  std::printf("the parent goes on: %d\n", x);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  if (argc > 1) return state(argv[1]);
  for (const char* name : {"nothing", "versions", "cuInit", "count", "context"}) {
    const pid_t p = fork();
    if (p == 0) {
      execl("/proc/self/exe", argv[0], name, nullptr);
      _exit(1);
    }
    int status = 0;
    waitpid(p, &status, 0);
    if (status != 0) std::printf("%s: ended with %#x\n", name, status);
  }
  return 0;
}
