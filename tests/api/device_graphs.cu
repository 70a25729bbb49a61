// SPDX-License-Identifier: Apache-2.0
// flags: -rdc=true -lcudadevrt
// Graphs launched by kernels of graphs: fire and forget, as sibling, at the tail; the order that each keeps; limits; a
// graph that launches itself again; nodes that kernels change.
#include <cstring>
#include <vector>

#include "api.h"

constexpr int kMany = 300;
struct Board {
  int code[16];
  int count, seen[64];  // a log
  int flag, sum, rounds, first_failed, failed_code, ready;
  unsigned long long current[4];
  cudaGraphExec_t many[kMany];
  cudaGraphDeviceNode_t node[4];
};

__device__ void note(Board* b, int what) { b->seen[atomicAdd(&b->count, 1)] = what; }
__device__ void pause_for(long long cycles) {
  for (const long long end = clock64() + cycles; clock64() < end;) {}
}

__global__ void writes(Board* b, int what) { note(b, what); }
__global__ void adds(Board* b, int value) { atomicAdd(&b->sum, value); }
__global__ void slow_writes(Board* b, int what) {
  pause_for(2000000);
  note(b, what);
}
__global__ void waits(Board* b) {
  while (atomicAdd(&b->flag, 0) == 0) {}
}
__global__ void waits_and_writes(Board* b, int what) {
  while (atomicAdd(&b->flag, 0) == 0) {}
  note(b, what);
}
__global__ void writes_and_opens(Board* b, int what) {
  note(b, what);
  atomicExch(&b->flag, 1);
}
__global__ void launches(Board* b, cudaGraphExec_t e, cudaStream_t where, int at) {
  b->current[0] = reinterpret_cast<unsigned long long>(cudaGetCurrentGraphExec());
  b->code[at] = cudaGraphLaunch(e, where);
}
__global__ void launches_twice(Board* b, cudaGraphExec_t e, cudaStream_t where) {
  b->code[0] = cudaGraphLaunch(e, where);
  b->code[1] = cudaGraphLaunch(e, where);
  __threadfence();
  atomicExch(&b->flag, 1);
}
__global__ void launches_and_writes(Board* b, cudaGraphExec_t e, cudaStream_t where, int what) {
  b->code[0] = cudaGraphLaunch(e, where);
  pause_for(2000000);
  note(b, what);
}
__global__ void launches_all(Board* b, int count, cudaStream_t where) {
  b->first_failed = -1;
  for (int i = 0; i < count; ++i) {
    const cudaError_t e = cudaGraphLaunch(b->many[i], where);
    if (e == cudaSuccess) continue;
    b->first_failed = i;
    b->failed_code = e;
    break;
  }
}
__global__ void again(Board* b) {
  if (++b->rounds < 5) b->code[0] = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}
__global__ void scaled(int* out, int factor, int plus) {
  out[blockIdx.x] = factor * static_cast<int>(blockIdx.x) + plus;
}
__global__ void changes(Board* b, int round) {
  cudaGraphDeviceNode_t n = b->node[0];
  if (round == 0) {
    b->code[0] = cudaGraphKernelNodeSetParam(n, 8, 10);
    b->code[1] = cudaGraphKernelNodeSetParam(n, 12, 7);
    b->code[2] = cudaGraphKernelNodeSetGridDim(n, dim3(3, 1, 1));
  } else if (round == 1) {
    b->code[0] = cudaGraphKernelNodeSetEnabled(n, false);
  } else {
    alignas(16) char room[3 * sizeof(cudaGraphKernelNodeUpdate)];
    auto* u = reinterpret_cast<cudaGraphKernelNodeUpdate*>(room);
    int values[2] = {2, 1};
    u[0].node = u[1].node = u[2].node = n;
    u[0].field = cudaGraphKernelNodeFieldEnabled;
    u[0].updateData.isEnabled = 1;
    u[1].field = cudaGraphKernelNodeFieldParam;
    u[1].updateData.param.pValue = values;
    u[1].updateData.param.offset = 8;
    u[1].updateData.param.size = 8;
    u[2].field = cudaGraphKernelNodeFieldGridDim;
    u[2].updateData.gridDim = dim3(2, 1, 1);
    b->code[0] = cudaGraphKernelNodeUpdatesApply(u, 3);
    b->code[1] = cudaGraphKernelNodeUpdatesApply(u, 0);
    b->code[2] = cudaGraphKernelNodeSetParam(n, 12, 5);
  }
}

Board* board = nullptr;
cudaStream_t stream;

template <class... A, class... G>
cudaGraphNode_t add(cudaGraph_t g, std::vector<cudaGraphNode_t> after, void (*f)(A...), int blocks, G... given) {
  void* args[] = {&given...};
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void*>(f);
  p.gridDim = blocks;
  p.blockDim = 1;
  p.kernelParams = args;
  cudaGraphNode_t n;
  MUST(cudaGraphAddKernelNode(&n, g, after.data(), after.size(), &p));
  return n;
}
cudaGraph_t fresh() {
  cudaGraph_t g;
  MUST(cudaGraphCreate(&g, 0));
  return g;
}
template <class... A, class... G>
cudaGraph_t one(void (*f)(A...), G... given) {
  cudaGraph_t g = fresh();
  add(g, {}, f, 1, given...);
  return g;
}
cudaGraphExec_t ready(cudaGraph_t g, bool upload = true) {
  cudaGraphExec_t e;
  MUST(cudaGraphInstantiate(&e, g, cudaGraphInstantiateFlagDeviceLaunch));
  if (upload) MUST(cudaGraphUpload(e, stream));
  return e;
}
void clear() {
  MUST(cudaDeviceSynchronize());
  std::memset(board, 0, sizeof *board);
}
void go(const char* what, cudaGraphExec_t e) {
  const cudaError_t launched = cudaGraphLaunch(e, stream), ended = cudaStreamSynchronize(stream);
  std::printf("%-70s %d %d\n", what, launched, ended);
}
void log() {
  std::printf("  log");
  for (int i = 0; i < board->count; ++i) std::printf(" %d", board->seen[i]);
  std::printf("\n");
}

void simple(cudaGraphExec_t target) {
  const cudaStream_t places[] = {cudaStreamGraphFireAndForget, cudaStreamGraphTailLaunch, cudaStreamGraphFireAndForgetAsSibling};
  const char* names[] = {"fire and forget", "tail", "sibling"};
  for (int i = 0; i < 3; ++i) {
    clear();
    cudaGraphExec_t e = ready(one(launches, board, target, places[i], 0));
    go(names[i], e);
    VALUE(board->code[0]);
    VALUE(board->current[0] == reinterpret_cast<unsigned long long>(e));
    log();
  }
  clear();
  launches<<<1, 1, 0, stream>>>(board, target, cudaStreamGraphFireAndForget, 0);
  SHOW(cudaStreamSynchronize(stream));
  VALUE(board->code[0]);
  VALUE(board->current[0]);
  log();
  const auto refused = [&](const char* what, cudaGraphExec_t e, cudaStream_t where) {
    clear();
    go(what, ready(one(launches, board, e, where, 0)));
    VALUE(board->code[0]);
    log();
  };
  refused("not uploaded", ready(one(writes, board, 2), false), cudaStreamGraphFireAndForget);
  refused("default stream", target, nullptr);
  refused("legacy stream", target, cudaStreamLegacy);
  refused("per-thread stream", target, cudaStreamPerThread);
  cudaGraphExec_t host_only;
  clear();
  MUST(cudaGraphInstantiate(&host_only, one(launches, board, target, cudaStreamGraphFireAndForget, 0), 0));
  go("launcher for the host only", host_only);
  VALUE(board->code[0]);
  VALUE(board->current[0] != 0);
  log();
  clear();
  cudaGraphExec_t launched = ready(one(writes, board, 4), false);
  go("not uploaded, but launched from the host", launched);
  go("  then from the device", ready(one(launches, board, launched, cudaStreamGraphFireAndForget, 0)));
  VALUE(board->code[0]);
  log();
}

void twice() {
  clear();
  go("the same twice at once", ready(one(launches_twice, board, ready(one(waits, board)), cudaStreamGraphFireAndForget)));
  VALUE(board->code[0]);
  VALUE(board->code[1]);
  clear();
  go("the same twice at the tail", ready(one(launches_twice, board, ready(one(adds, board, 1)), cudaStreamGraphTailLaunch)));
  VALUE(board->code[0]);
  VALUE(board->code[1]);
  VALUE(board->sum);
}

// Launched work and what the launcher's later nodes, the tail and the stream's next work see of it.
void order() {
  clear();
  cudaGraph_t g = fresh();
  cudaGraphNode_t a = add(g, {}, launches, 1, board, ready(one(slow_writes, board, 1)), cudaStreamGraphTailLaunch, 0);
  cudaGraphNode_t b = add(g, {a}, launches, 1, board, ready(one(writes, board, 2)), cudaStreamGraphTailLaunch, 1);
  cudaGraphNode_t c = add(g, {b}, launches, 1, board, ready(one(waits_and_writes, board, 3)), cudaStreamGraphFireAndForget, 2);
  add(g, {c}, writes_and_opens, 1, board, 4);
  cudaGraphExec_t e = ready(g);
  MUST(cudaGraphLaunch(e, stream));
  writes<<<1, 1, 0, stream>>>(board, 5);
  SHOW(cudaStreamSynchronize(stream));
  for (int i = 0; i < 3; ++i) VALUE(board->code[i]);
  log();  // 4 before 3, for nothing in the graph waits for what it fired; 5 behind all
  clear();
  // A tail launch of a graph with a tail launch of its own: that one comes before the next tail.
  cudaGraphExec_t inner = ready(one(slow_writes, board, 1));
  g = fresh();
  a = add(g, {}, launches, 1, board, inner, cudaStreamGraphTailLaunch, 0);
  add(g, {a}, writes, 1, board, 2);
  cudaGraphExec_t middle = ready(g);
  g = fresh();
  a = add(g, {}, launches, 1, board, middle, cudaStreamGraphTailLaunch, 1);
  b = add(g, {a}, launches, 1, board, ready(one(writes, board, 3)), cudaStreamGraphTailLaunch, 2);
  add(g, {b}, writes, 1, board, 4);
  go("tails of tails", ready(g));
  log();
  // What is fired by a fired graph is part of it; a sibling is not waited for by the tail of the launcher.
  clear();
  cudaGraphExec_t slow = ready(one(slow_writes, board, 1));
  cudaGraphExec_t nested = ready(one(launches, board, slow, cudaStreamGraphFireAndForget, 0));
  g = fresh();
  a = add(g, {}, launches, 1, board, nested, cudaStreamGraphFireAndForget, 1);
  add(g, {a}, launches, 1, board, ready(one(writes, board, 2)), cudaStreamGraphTailLaunch, 2);
  go("the tail waits for what the fired graph fired", ready(g));
  log();
  clear();
  nested = ready(one(launches, board, slow, cudaStreamGraphFireAndForgetAsSibling, 0));
  g = fresh();
  a = add(g, {}, launches, 1, board, nested, cudaStreamGraphFireAndForget, 1);
  add(g, {a}, launches, 1, board, ready(one(writes, board, 2)), cudaStreamGraphTailLaunch, 2);
  go("the tail waits for the fired graph's sibling", ready(g));
  log();
  clear();
  g = fresh();
  a = add(g, {}, launches, 1, board, slow, cudaStreamGraphFireAndForgetAsSibling, 1);
  add(g, {a}, launches, 1, board, ready(one(writes, board, 2)), cudaStreamGraphTailLaunch, 2);
  go("the tail does not wait for a sibling", ready(g));
  VALUE(board->count);
}

void limits() {
  clear();
  std::vector<cudaGraphExec_t> all;
  for (int i = 0; i < kMany; ++i) all.push_back(ready(one(adds, board, 1)));
  const auto run = [&](const char* what, int count, cudaStream_t where) {
    clear();
    std::memcpy(board->many, all.data(), kMany * sizeof(cudaGraphExec_t));
    cudaGraphExec_t e = ready(one(launches_all, board, count, where));
    go(what, e);
    VALUE(board->first_failed);
    VALUE(board->failed_code);
    VALUE(board->sum);
    go("  again", e);
    VALUE(board->first_failed);
    VALUE(board->sum);
  };
  run("120 fired", 120, cudaStreamGraphFireAndForget);
  run("300 fired", kMany, cudaStreamGraphFireAndForget);
  run("120 siblings", 120, cudaStreamGraphFireAndForgetAsSibling);
  run("255 at the tail", 255, cudaStreamGraphTailLaunch);
  run("300 at the tail", kMany, cudaStreamGraphTailLaunch);
}

void itself() {
  clear();
  cudaGraph_t g = fresh();
  cudaGraphNode_t a = add(g, {}, again, 1, board);
  add(g, {a}, adds, 1, board, 1);
  go("launches itself at the tail", ready(g));
  VALUE(board->rounds);
  VALUE(board->sum);
  VALUE(board->code[0]);
  clear();
  g = fresh();
  cudaGraphNode_t first = add(g, {}, launches, 1, board, static_cast<cudaGraphExec_t>(nullptr), cudaStreamGraphFireAndForget, 0);
  cudaGraphExec_t e = ready(g);
  cudaKernelNodeParams p = {};
  cudaStream_t where = cudaStreamGraphFireAndForget;
  int at = 0;
  void* args[] = {&board, &e, &where, &at};
  MUST(cudaGraphKernelNodeGetParams(first, &p));
  p.kernelParams = args;
  MUST(cudaGraphExecKernelNodeSetParams(e, first, &p));
  MUST(cudaGraphUpload(e, stream));
  go("fires itself", e);
  VALUE(board->code[0]);
}

// A kernel changes nodes of a graph that it then launches, and of its own.
void updates() {
  int* out = nullptr;
  MUST(cudaMallocManaged(&out, 64));
  cudaLaunchAttributeValue v = {};
  v.deviceUpdatableKernelNode.deviceUpdatable = 1;
  clear();
  cudaGraph_t g = fresh();
  cudaGraphNode_t n = add(g, {}, scaled, 4, out, 1, 100);
  SHOW(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
  cudaGraphExec_t target = ready(g);
  const cudaGraphDeviceNode_t handle = v.deviceUpdatableKernelNode.devNode;
  for (int round = 0; round < 3; ++round) {
    clear();
    std::memset(out, 0, 64);
    board->node[0] = handle;
    cudaGraph_t l = fresh();
    cudaGraphNode_t a = add(l, {}, changes, 1, board, round);
    add(l, {a}, launches, 1, board, target, cudaStreamGraphFireAndForget, 8);
    go("changes another graph", ready(l));
    for (int i = 0; i < 3; ++i) VALUE(board->code[i]);
    VALUE(board->code[8]);
    std::printf("  %d %d %d %d\n", out[0], out[1], out[2], out[3]);
  }
  clear();
  std::memset(out, 0, 64);
  go("launched from the host after that", target);
  std::printf("  %d %d %d %d\n", out[0], out[1], out[2], out[3]);
  MUST(cudaGraphUpload(target, stream));
  go("uploaded again", target);
  std::printf("  %d %d %d %d\n", out[0], out[1], out[2], out[3]);
  // a node of its own graph, behind the kernel that changes it
  clear();
  std::memset(out, 0, 64);
  g = fresh();
  cudaGraphNode_t a = add(g, {}, changes, 1, board, 0);
  n = add(g, {a}, scaled, 4, out, 1, 100);
  v.deviceUpdatableKernelNode.devNode = nullptr;
  MUST(cudaGraphKernelNodeSetAttribute(n, cudaLaunchAttributeDeviceUpdatableKernelNode, &v));
  cudaGraphExec_t e;
  MUST(cudaGraphInstantiate(&e, g, 0));
  board->node[0] = v.deviceUpdatableKernelNode.devNode;
  MUST(cudaGraphUpload(e, stream));
  go("changes its own graph", e);
  for (int i = 0; i < 3; ++i) VALUE(board->code[i]);
  std::printf("  %d %d %d %d\n", out[0], out[1], out[2], out[3]);
  std::memset(out, 0, 64);
  go("a second time", e);
  std::printf("  %d %d %d %d\n", out[0], out[1], out[2], out[3]);
}

// Copies and sets in a graph launched from the device.
void other_nodes() {
  clear();
  int* d = nullptr;
  MUST(cudaMallocManaged(&d, 64));
  d[0] = 41;
  int *x, *y;
  MUST(cudaMalloc(&x, 16));
  MUST(cudaMalloc(&y, 16));
  cudaGraph_t g = fresh(), inner = fresh();
  cudaGraphNode_t set, copy, child;
  cudaMemsetParams p = {};
  p.dst = x;
  p.value = 0x01020304;
  p.elementSize = 4;
  p.width = 4;
  p.height = 1;
  MUST(cudaGraphAddMemsetNode(&set, inner, nullptr, 0, &p));
  MUST(cudaGraphAddMemcpyNode1D(&copy, inner, &set, 1, y, x, 16, cudaMemcpyDeviceToDevice));
  MUST(cudaGraphAddChildGraphNode(&child, g, nullptr, 0, inner));
  add(g, {child}, writes, 1, board, 6);
  go("set and copy", ready(one(launches, board, ready(g), cudaStreamGraphFireAndForget, 0)));
  VALUE(board->code[0]);
  int h[4] = {};
  MUST(cudaMemcpy(h, y, 16, cudaMemcpyDeviceToHost));
  VALUE(h[3]);
  log();
}

int main() {
  MUST(cudaMallocManaged(&board, sizeof(Board)));
  MUST(cudaStreamCreate(&stream));
  cudaGraphExec_t target = ready(one(writes, board, 1));
  simple(target);
  twice();
  order();
  itself();
  updates();
  other_nodes();
  limits();
  return 0;
}
