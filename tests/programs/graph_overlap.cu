// SPDX-License-Identifier: Apache-2.0
// What overlaps in a graph: programmatic edges between kernels, made by hand and by captures.
#include "overlap.h"
using namespace overlap;

cudaGraphEdgeData edge(int port) {
  cudaGraphEdgeData e = {};
  e.from_port = static_cast<unsigned char>(port);
  e.type = port ? cudaGraphDependencyTypeProgrammatic : cudaGraphDependencyTypeDefault;
  return e;
}
constexpr int kPlain = 0, kTrigger = cudaGraphKernelNodePortProgrammatic, kOrder = cudaGraphKernelNodePortLaunchCompletion;

struct Build {
  cudaGraph_t graph;
  Build() { MUST(cudaGraphCreate(&graph, 0)); }
  template <typename... A>
  cudaGraphNode_t kernel(void (*f)(A...), int blocks, A... a) {
    void* arguments[] = {&a...};
    cudaKernelNodeParams p = {};
    p.func = reinterpret_cast<void*>(f);
    p.gridDim = static_cast<unsigned>(blocks), p.blockDim = 64;
    p.kernelParams = arguments;
    cudaGraphNode_t n;
    MUST(cudaGraphAddKernelNode(&n, graph, nullptr, 0, &p));
    return n;
  }
  cudaGraphNode_t one(Marks* m, int does) { return kernel(first, 2, m, does); }
  cudaGraphNode_t two(Marks* m, int does, int at) { return kernel(second, 1, m, does, at); }
  void connect(cudaGraphNode_t a, cudaGraphNode_t b, int port) {
    const cudaGraphEdgeData e = edge(port);
    MUST(cudaGraphAddDependencies(graph, &a, &b, &e, 1));
  }
  cudaGraphExec_t exec() {
    cudaGraphExec_t e;
    MUST(cudaGraphInstantiate(&e, graph, 0));
    return e;
  }
  void run() { MUST(cudaGraphLaunch(exec(), stream)); }
};

void with(int port) {
  const char* const names[] = {"plain", "programmatic", "launch order"};
  std::printf("%s\n", names[port]);
  const auto sees = [&](const char* name, int does) {
    test(name, {0}, [&](Marks* m) {
      Build b;
      b.connect(b.one(m, does | kWaitsForSecond), b.two(m, kMarks, 1), port);
      b.run();
    });
  };
  sees("  the first sees the second, and triggers", kTriggers);
  sees("  ... without a trigger", 0);
  sees("  ... one of two blocks triggers", kOneBlockOnly);
  sees("  ... one of two blocks triggers, the other ends", kOneBlockOnly | kOtherBlockEnds);
  const auto reads = [&](const char* name, int does) {
    test(name, {1}, [&](Marks* m) {
      Build b;
      b.connect(b.one(m, kTriggers | kWritesAtEnd), b.two(m, does | kReads, 1), port);
      b.run();
    });
  };
  reads("  result of the first: without wait", 0);
  reads("  result of the first: after griddepcontrol.wait", kWaits);
  test("  a third, plain, behind the second, which did not wait", {3}, [&](Marks* m) {
    Build b;
    const auto two = b.two(m, 0, 1);
    b.connect(b.one(m, kTriggers | kWritesAtEnd), two, port);
    b.connect(two, b.two(m, kReads, 3), kPlain);
    b.run();
  });
  test("  a third of the same kind waits; the second triggered and did not wait", {3}, [&](Marks* m) {
    Build b;
    const auto two = b.two(m, kTriggersToo, 1);
    b.connect(b.one(m, kTriggers | kWritesAtEnd), two, port);
    b.connect(two, b.two(m, kReads | kWaits, 3), port);
    b.run();
  });
  test("  a copy behind the second, which did not wait", {4}, [&](Marks* m) {
    Build b;
    const auto two = b.two(m, 0, 1);
    b.connect(b.one(m, kTriggers | kWritesAtEnd), two, port);
    cudaGraphNode_t copy;
    MUST(cudaGraphAddMemcpyNode1D(&copy, b.graph, &two, 1, &m->seen[4], &m->result, sizeof(int), cudaMemcpyDeviceToDevice));
    b.run();
  });
  test("  behind the graph, whose second did not wait", {3}, [&](Marks* m) {
    Build b;
    b.connect(b.one(m, kTriggers | kWritesAtEnd), b.two(m, 0, 1), port);
    b.run();
    launch_second(m, kReads, 3, false);
  });
  test("  two firsts: the one that does not write at its end sees the second", {0}, [&](Marks* m) {
    Build b;
    const auto two = b.two(m, kMarks, 1);
    b.connect(b.one(m, kTriggers | kWaitsForSecond), two, port);
    b.connect(b.two(m, kTriggersToo, 5), two, port);
    b.run();
  });
  test("  two firsts: result of one, after griddepcontrol.wait", {1}, [&](Marks* m) {
    Build b;
    const auto two = b.two(m, kReads | kWaits, 1);
    b.connect(b.one(m, kTriggers | kWritesAtEnd), two, port);
    b.connect(b.two(m, kTriggersToo, 5), two, port);
    b.run();
  });
  test("  two firsts, the one that writes by a plain edge: result, without wait", {1}, [&](Marks* m) {
    Build b;
    const auto two = b.two(m, kReads, 1);
    b.connect(b.one(m, kTriggers | kWritesAtEnd), two, kPlain);
    b.connect(b.two(m, kTriggersToo, 5), two, port);
    b.run();
  });
  test("  in a child graph", {0}, [&](Marks* m) {
    Build inner, outer;
    inner.connect(inner.one(m, kTriggers | kWaitsForSecond), inner.two(m, kMarks, 1), port);
    cudaGraphNode_t child;
    MUST(cudaGraphAddChildGraphNode(&child, outer.graph, nullptr, 0, inner.graph));
    outer.run();
  });
  test("  launched twice", {0, 1}, [&](Marks* m) {
    Build b;
    b.connect(b.one(m, kTriggers | kWaitsForSecond | kWritesAtEnd), b.two(m, kMarks | kReads | kWaits, 1), port);
    const auto e = b.exec();
    MUST(cudaGraphLaunch(e, stream));
    MUST(cudaMemsetAsync(m, 0, sizeof *m, stream));
    MUST(cudaGraphLaunch(e, stream));
  });
}

template <typename Body>
void capture(const char* name, std::vector<int> slots, Body body) {
  test(name, slots, [&](Marks* m) {
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaGraphNode_t from[8], to[8];
    cudaGraphEdgeData data[8];
    size_t count = 8;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    body(m);
    MUST(cudaStreamEndCapture(stream, &g));
    MUST(cudaGraphGetEdges(g, from, to, data, &count));
    for (size_t i = 0; i < count; ++i)
      std::printf("  port %d type %d;", data[i].from_port, data[i].type);
    MUST(cudaGraphInstantiate(&e, g, 0));
    MUST(cudaGraphLaunch(e, stream));
  });
}

void captured_event(const char* name, bool completion, bool at_block_start) {
  cudaStream_t other;
  cudaEvent_t event, joined;
  MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  MUST(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  std::printf("captured: %s\n", name);
  const auto fork = [&](Marks* m, int does, int second_does) {
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute a = {};
    a.id = completion ? cudaLaunchAttributeLaunchCompletionEvent : cudaLaunchAttributeProgrammaticEvent;
    if (completion)
      a.val.launchCompletionEvent.event = event;
    else
      a.val.programmaticEvent = {event, 0, at_block_start};
    config.gridDim = 2, config.blockDim = 64, config.stream = stream, config.attrs = &a, config.numAttrs = 1;
    MUST(cudaLaunchKernelEx(&config, first, m, does));
    MUST(cudaStreamWaitEvent(other, event));
    launch_second(m, second_does, 1, false, other);
    MUST(cudaEventRecord(joined, other));
    MUST(cudaStreamWaitEvent(stream, joined));
  };
  capture("  the first sees the second, and triggers", {0}, [&](Marks* m) { fork(m, kTriggers | kWaitsForSecond, kMarks); });
  capture("  ... without a trigger", {0}, [&](Marks* m) { fork(m, kWaitsForSecond, kMarks); });
  capture("  result of the first: without wait", {1}, [&](Marks* m) { fork(m, kTriggers | kWritesAtEnd, kReads); });
  capture("  result of the first: after griddepcontrol.wait", {1}, [&](Marks* m) { fork(m, kTriggers | kWritesAtEnd, kReads | kWaits); });
}

int main() {
  prepare();
  for (const int port : {kPlain, kTrigger, kOrder}) with(port);
  std::printf("captured: programmatic serialisation\n");
  capture("  the first sees the second", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWaitsForSecond);
    launch_second(m, kMarks, 1);
  });
  capture("  ... without a trigger", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kWaitsForSecond);
    launch_second(m, kMarks, 1);
  });
  capture("  result of the first: before wait, after it", {1, 3}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, kTriggersToo | kReads, 1);
    launch_second(m, kReads | kWaits, 3);
  });
  captured_event("programmatic event", false, false);
  captured_event("programmatic event, at block start", false, true);
  captured_event("launch completion event", true, false);
}
