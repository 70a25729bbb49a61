// SPDX-License-Identifier: Apache-2.0
// Attributes of launches, streams, functions and kernel nodes: what is accepted, what is refused, what is read back.
#include <cstring>

#include "api.h"

__global__ void plain(int* p) { if (p) *p = 1; }
extern __shared__ int dynamic[];
__global__ void with_shared(int* p) { if (p) *p = dynamic[0]; }
__global__ void waits_then_adds(int* p) {
  cudaGridDependencySynchronize();
  *p = *p * 10 + 2;
}
__global__ void triggers_then_sets(int* p) {
  cudaTriggerProgrammaticLaunchCompletion();
  for (const long long end = clock64() + 200000; clock64() < end;) {}
  *p = 1;
}

cudaStream_t s;
int* d = nullptr;

cudaError_t launch(cudaLaunchAttributeID id, const cudaLaunchAttributeValue& v, cudaStream_t where = s) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute a = {};
  a.id = id;
  a.val = v;
  config.gridDim = 2;
  config.blockDim = 32;
  config.stream = where;
  config.attrs = &a;
  config.numAttrs = 1;
  const cudaError_t e = cudaLaunchKernelEx(&config, plain, d);
  const cudaError_t end = cudaStreamSynchronize(where);
  cudaGetLastError();
  return e != cudaSuccess ? e : end;
}

// Sets it on a stream and on a kernel node, launches with it, reads it back.
void everywhere(const char* what, cudaLaunchAttributeID id, const cudaLaunchAttributeValue& v) {
  cudaLaunchAttributeValue back;
  cudaStream_t own;
  cudaGraph_t g;
  cudaGraphNode_t n;
  MUST(cudaStreamCreate(&own));
  MUST(cudaGraphCreate(&g, 0));
  void* args[] = {&d};
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void*>(plain);
  p.gridDim = 2;
  p.blockDim = 32;
  p.kernelParams = args;
  MUST(cudaGraphAddKernelNode(&n, g, nullptr, 0, &p));
  const auto words = [&] {
    int w[4];
    std::memcpy(w, &back, sizeof w);
    std::printf(" %d %d %d", w[0], w[1], w[2]);
  };
  std::printf("%-44s launch %3d", what, launch(id, v));
  std::memset(&back, 0, sizeof back);
  std::printf("   stream get %3d", cudaStreamGetAttribute(own, id, &back)), words();
  std::printf(" set %3d", cudaStreamSetAttribute(own, id, &v));
  std::memset(&back, 0, sizeof back);
  std::printf(" get %3d", cudaStreamGetAttribute(own, id, &back)), words();
  std::memset(&back, 0, sizeof back);
  std::printf("   node get %3d", cudaGraphKernelNodeGetAttribute(n, id, &back)), words();
  std::printf(" set %3d", cudaGraphKernelNodeSetAttribute(n, id, &v));
  std::memset(&back, 0, sizeof back);
  std::printf(" get %3d", cudaGraphKernelNodeGetAttribute(n, id, &back)), words();
  cudaGraphExec_t e;
  std::printf("   makes %3d\n", cudaGraphInstantiate(&e, g, 0));
  cudaGetLastError();
  cudaStreamDestroy(own);
  cudaGraphDestroy(g);
}

cudaLaunchAttributeValue number(int a, int b = 0, int c = 0) {
  cudaLaunchAttributeValue v = {};
  const int w[] = {a, b, c};
  std::memcpy(&v, w, sizeof w);
  return v;
}
cudaLaunchAttributeValue map(int a, int b) {
  cudaLaunchAttributeValue v = {};
  v.memSyncDomainMap.default_ = static_cast<unsigned char>(a);
  v.memSyncDomainMap.remote = static_cast<unsigned char>(b);
  return v;
}
cudaLaunchAttributeValue window(void* p, size_t bytes, float ratio, cudaAccessProperty hit, cudaAccessProperty miss) {
  cudaLaunchAttributeValue v = {};
  v.accessPolicyWindow = {p, bytes, ratio, hit, miss};
  return v;
}

void domains() {
  int count = 0;
  SHOW(cudaDeviceGetAttribute(&count, cudaDevAttrMemSyncDomainCount, 0));
  VALUE(count);
  for (int i : {0, 1, 2, -1}) {
    char text[40];
    std::snprintf(text, sizeof text, "domain %d", i);
    everywhere(text, cudaLaunchAttributeMemSyncDomain, number(i));
  }
  for (int i : {0, 1, 3, 4, 255}) {
    char text[40];
    std::snprintf(text, sizeof text, "map 0 %d", i);
    everywhere(text, cudaLaunchAttributeMemSyncDomainMap, map(0, i));
    std::snprintf(text, sizeof text, "map %d 1", i);
    everywhere(text, cudaLaunchAttributeMemSyncDomainMap, map(i, 1));
  }
}

void capture_of_domains() {
  cudaLaunchAttributeValue v = map(2, 3), back = {};
  cudaStream_t own;
  MUST(cudaStreamCreate(&own));
  MUST(cudaStreamSetAttribute(own, cudaLaunchAttributeMemSyncDomainMap, &v));
  v = number(cudaLaunchMemSyncDomainRemote);
  MUST(cudaStreamSetAttribute(own, cudaLaunchAttributeMemSyncDomain, &v));
  cudaGraph_t g;
  cudaGraphNode_t n[2];
  size_t count = 2;
  MUST(cudaStreamBeginCapture(own, cudaStreamCaptureModeRelaxed));
  plain<<<1, 1, 0, own>>>(d);
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute a[2] = {};
  a[0].id = cudaLaunchAttributeMemSyncDomain;
  a[1].id = cudaLaunchAttributeMemSyncDomainMap;
  a[1].val = map(1, 0);
  config.gridDim = config.blockDim = 1;
  config.stream = own;
  config.attrs = a;
  config.numAttrs = 2;
  SHOW(cudaLaunchKernelEx(&config, plain, d));
  MUST(cudaStreamEndCapture(own, &g));
  MUST(cudaGraphGetNodes(g, n, &count));
  for (size_t i = 0; i < count; ++i) {
    SHOW(cudaGraphKernelNodeGetAttribute(n[i], cudaLaunchAttributeMemSyncDomain, &back));
    VALUE(back.memSyncDomain);
    SHOW(cudaGraphKernelNodeGetAttribute(n[i], cudaLaunchAttributeMemSyncDomainMap, &back));
    VALUE(back.memSyncDomainMap.default_);
    VALUE(back.memSyncDomainMap.remote);
  }
  // attributes of a stream go to another
  cudaStream_t other;
  MUST(cudaStreamCreate(&other));
  SHOW(cudaStreamCopyAttributes(other, own));
  SHOW(cudaStreamGetAttribute(other, cudaLaunchAttributeMemSyncDomain, &back));
  VALUE(back.memSyncDomain);
  SHOW(cudaStreamGetAttribute(other, cudaLaunchAttributeMemSyncDomainMap, &back));
  VALUE(back.memSyncDomainMap.remote);
  SHOW(cudaStreamGetAttribute(cudaStreamLegacy, cudaLaunchAttributeMemSyncDomainMap, &back));
  VALUE(back.memSyncDomainMap.remote);
  SHOW(cudaStreamSetAttribute(cudaStreamPerThread, cudaLaunchAttributeMemSyncDomainMap, &back));
  SHOW(cudaGetLastError());
}

void priorities() {
  for (int i : {0, -1, -5, -6, 1, 100}) {
    char text[40];
    std::snprintf(text, sizeof text, "priority %d", i);
    everywhere(text, cudaLaunchAttributePriority, number(i));
  }
}

void persistence() {
  cudaDeviceProp p;
  size_t v = 9;
  MUST(cudaGetDeviceProperties(&p, 0));
  VALUE(p.persistingL2CacheMaxSize);
  VALUE(p.accessPolicyMaxWindowSize);
  SHOW(cudaDeviceGetLimit(&v, cudaLimitPersistingL2CacheSize));
  VALUE(v);
  for (size_t bytes : {size_t{1}, size_t{1} << 20, size_t(p.persistingL2CacheMaxSize), size_t(p.persistingL2CacheMaxSize) + 1, size_t{1} << 40, size_t{0}}) {
    SHOW(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes));
    SHOW(cudaDeviceGetLimit(&v, cudaLimitPersistingL2CacheSize));
    VALUE(v);
  }
  SHOW(cudaCtxResetPersistingL2Cache());
  const size_t most = p.accessPolicyMaxWindowSize;
  const auto hit = cudaAccessPropertyPersisting, miss = cudaAccessPropertyStreaming, normal = cudaAccessPropertyNormal;
  const auto show = [&](const char* what, const cudaLaunchAttributeValue& v) {
    cudaLaunchAttributeValue back = {};
    cudaStream_t own;
    MUST(cudaStreamCreate(&own));
    std::printf("%-44s launch %3d, stream set %3d", what, launch(cudaLaunchAttributeAccessPolicyWindow, v),
                cudaStreamSetAttribute(own, cudaLaunchAttributeAccessPolicyWindow, &v));
    const cudaError_t e = cudaStreamGetAttribute(own, cudaLaunchAttributeAccessPolicyWindow, &back);
    const auto& w = back.accessPolicyWindow;
    std::printf(" get %3d: %s, %zu bytes, %.3f, %d %d\n", e, w.base_ptr == d ? "that" : w.base_ptr ? "another" : "null", w.num_bytes, w.hitRatio, w.hitProp, w.missProp);
    cudaGetLastError();
    cudaStreamDestroy(own);
  };
  show("whole", window(d, 4096, 1.0f, hit, miss));
  show("half", window(d, 4096, 0.5f, hit, normal));
  show("ratio 0", window(d, 4096, 0.0f, hit, normal));
  show("ratio 1.5", window(d, 4096, 1.5f, hit, normal));
  show("ratio below 0", window(d, 4096, -0.5f, hit, normal));
  show("miss persists", window(d, 4096, 1.0f, hit, hit));
  show("hit 3", window(d, 4096, 1.0f, static_cast<cudaAccessProperty>(3), normal));
  show("hit streams", window(d, 4096, 1.0f, miss, miss));
  show("no bytes", window(d, 0, 1.0f, hit, miss));
  show("nothing", window(nullptr, 0, 0.0f, normal, normal));
  show("null, some bytes", window(nullptr, 4096, 1.0f, hit, miss));
  show("the largest", window(d, most, 1.0f, hit, miss));
  show("too large", window(d, most + 1, 1.0f, hit, miss));
  everywhere("window 0", cudaLaunchAttributeAccessPolicyWindow, window(nullptr, 0, 0.0f, normal, normal));
}

void others() {
  for (int i = 0; i < 5; ++i) {
    char text[40];
    std::snprintf(text, sizeof text, "synchronisation policy %d", i);
    everywhere(text, cudaLaunchAttributeSynchronizationPolicy, number(i));
  }
  for (int i = -1; i < 4; ++i) {
    char text[40];
    std::snprintf(text, sizeof text, "cluster scheduling %d", i);
    everywhere(text, cudaLaunchAttributeClusterSchedulingPolicyPreference, number(i));
  }
  everywhere("cluster 2", cudaLaunchAttributeClusterDimension, number(2, 1, 1));
  everywhere("cluster 3", cudaLaunchAttributeClusterDimension, number(3, 1, 1));
  everywhere("cluster 0", cudaLaunchAttributeClusterDimension, number(0, 1, 1));
  everywhere("cooperative", cudaLaunchAttributeCooperative, number(1));
  everywhere("cooperative 2", cudaLaunchAttributeCooperative, number(2));
  everywhere("serialization", cudaLaunchAttributeProgrammaticStreamSerialization, number(1));
  everywhere("serialization 2", cudaLaunchAttributeProgrammaticStreamSerialization, number(2));
  for (int i : {-2, -1, 0, 50, 100, 101}) {
    char text[40];
    std::snprintf(text, sizeof text, "carveout %d", i);
    everywhere(text, cudaLaunchAttributePreferredSharedMemoryCarveout, number(i));
  }
  everywhere("nvlink 1", static_cast<cudaLaunchAttributeID>(16), number(1));
  everywhere("preferred cluster 2", cudaLaunchAttributePreferredClusterDimension, number(2, 1, 1));
  everywhere("ignore", cudaLaunchAttributeIgnore, number(0));
  everywhere("15", static_cast<cudaLaunchAttributeID>(15), number(0));
  everywhere("99", static_cast<cudaLaunchAttributeID>(99), number(0));
}

void carveout() {
  for (int i : {-1, 0, 1, 25, 50, 99, 100}) {
    int blocks = 0;
    cudaFuncAttributes a;
    SHOW(cudaFuncSetAttribute(with_shared, cudaFuncAttributePreferredSharedMemoryCarveout, i));
    MUST(cudaFuncGetAttributes(&a, with_shared));
    VALUE(a.preferredShmemCarveout);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared, 64, 16384));
    VALUE(blocks);
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared, 1024, 0));
    VALUE(blocks);
  }
  for (int i = -1; i < 5; ++i) SHOW(cudaFuncSetCacheConfig(with_shared, static_cast<cudaFuncCache>(i)));
  for (int i = -1; i < 5; ++i) {
    cudaFuncCache now;
    SHOW(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(i)));
    SHOW(cudaDeviceGetCacheConfig(&now));
    VALUE(now);
  }
  for (int i = -1; i < 4; ++i) {
    cudaFuncAttributes a;
    SHOW(cudaFuncSetAttribute(with_shared, cudaFuncAttributeClusterSchedulingPolicyPreference, i));
    MUST(cudaFuncGetAttributes(&a, with_shared));
    VALUE(a.clusterSchedulingPolicyPreference);
  }
  cudaGetLastError();
}

// Events of a launch, and the edges that a capture makes of them.
void events() {
  cudaEvent_t untimed, timed;
  MUST(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  MUST(cudaEventCreate(&timed));
  cudaStream_t other;
  MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute a = {};
  config.gridDim = config.blockDim = 1;
  config.stream = s;
  config.attrs = &a;
  config.numAttrs = 1;
  for (int kind = 0; kind < 2; ++kind) {
    a.id = kind ? cudaLaunchAttributeLaunchCompletionEvent : cudaLaunchAttributeProgrammaticEvent;
    const auto name = [&](cudaEvent_t e, int flags, int trigger) {
      if (kind) a.val.launchCompletionEvent = {e, flags};
      else a.val.programmaticEvent = {e, flags, trigger};
    };
    name(untimed, 0, 0);
    SHOW(cudaLaunchKernelEx(&config, plain, d));
    SHOW(cudaEventSynchronize(untimed));
    name(untimed, 0, 1);
    SHOW(cudaLaunchKernelEx(&config, plain, d));
    name(untimed, 1, 0);
    SHOW(cudaLaunchKernelEx(&config, plain, d));
    name(timed, 0, 0);
    SHOW(cudaLaunchKernelEx(&config, plain, d));
    name(nullptr, 0, 0);
    SHOW(cudaLaunchKernelEx(&config, plain, d));
    SHOW(cudaStreamSynchronize(s));
    cudaGetLastError();
    for (int trigger = 0; trigger < 2; ++trigger) {
      cudaGraph_t g;
      cudaGraphNode_t from[4], to[4];
      cudaGraphEdgeData data[4];
      size_t count = 4;
      MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
      name(untimed, 0, trigger);
      SHOW(cudaLaunchKernelEx(&config, plain, d));
      SHOW(cudaStreamWaitEvent(other, untimed, 0));
      plain<<<1, 1, 0, other>>>(d);
      SHOW(cudaGetLastError());
      MUST(cudaEventRecord(timed, other));
      SHOW(cudaStreamWaitEvent(s, timed, 0));
      SHOW(cudaStreamEndCapture(s, &g));
      SHOW(cudaGraphGetEdges(g, from, to, data, &count));
      VALUE(count);
      for (size_t i = 0; i < count; ++i) std::printf("  ports %d %d type %d\n", data[i].from_port, data[i].to_port, data[i].type);
      cudaGraphExec_t e;
      SHOW(cudaGraphInstantiate(&e, g, 0));
      SHOW(cudaGraphLaunch(e, s));
      SHOW(cudaStreamSynchronize(s));
      cudaGetLastError();
    }
  }
}

void serialization() {
  int h = 0;
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute a = {};
  config.gridDim = config.blockDim = 1;
  config.stream = s;
  config.attrs = &a;
  config.numAttrs = 1;
  a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  a.val.programmaticStreamSerializationAllowed = 1;
  SHOW(cudaMemsetAsync(d, 0, 4, s));
  triggers_then_sets<<<1, 1, 0, s>>>(d);
  SHOW(cudaLaunchKernelEx(&config, waits_then_adds, d));
  SHOW(cudaStreamSynchronize(s));
  MUST(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
  VALUE(h);
  cudaGraph_t g;
  cudaGraphExec_t e;
  cudaGraphNode_t from[4], to[4];
  cudaGraphEdgeData data[4];
  size_t count = 4;
  MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  MUST(cudaMemsetAsync(d, 0, 4, s));
  SHOW(cudaLaunchKernelEx(&config, triggers_then_sets, d));
  SHOW(cudaLaunchKernelEx(&config, waits_then_adds, d));
  MUST(cudaMemcpyAsync(d + 1, d, 4, cudaMemcpyDeviceToDevice, s));
  SHOW(cudaStreamEndCapture(s, &g));
  SHOW(cudaGraphGetEdges(g, from, to, data, &count));
  VALUE(count);
  for (size_t i = 0; i < count; ++i) std::printf("  ports %d %d type %d\n", data[i].from_port, data[i].to_port, data[i].type);
  SHOW(cudaGraphInstantiate(&e, g, 0));
  for (int i = 0; i < 3; ++i) MUST(cudaGraphLaunch(e, s));
  SHOW(cudaStreamSynchronize(s));
  MUST(cudaMemcpy(&h, d + 1, 4, cudaMemcpyDeviceToHost));
  VALUE(h);
}

int main() {
  MUST(cudaStreamCreate(&s));
  MUST(cudaMalloc(&d, 1 << 20));
  domains();
  capture_of_domains();
  priorities();
  persistence();
  others();
  carveout();
  events();
  serialization();
  return 0;
}
