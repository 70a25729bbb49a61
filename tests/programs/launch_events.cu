// SPDX-License-Identifier: Apache-2.0
// Events that a launch records: when all blocks have begun (launch completion, or programmatic with the trigger at the
// block's start), when all have triggered or ended (programmatic). Work that waits for one overlaps with the kernel.
#include "overlap.h"
using namespace overlap;

enum Kind { kProgrammatic, kAtBlockStart, kCompletion };
const char* const kNames[] = {"programmatic", "at block start", "launch completion"};
cudaStream_t other;
cudaEvent_t event, second_event;

cudaLaunchAttribute attribute(Kind kind, cudaEvent_t e) {
  cudaLaunchAttribute a = {};
  a.id = kind == kCompletion ? cudaLaunchAttributeLaunchCompletionEvent : cudaLaunchAttributeProgrammaticEvent;
  if (kind == kCompletion)
    a.val.launchCompletionEvent.event = e;
  else
    a.val.programmaticEvent = {e, 0, kind == kAtBlockStart};
  return a;
}

template <typename... A>
void launch(void (*kernel)(A...), std::vector<cudaLaunchAttribute> attributes, int blocks, size_t shared, A... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = static_cast<unsigned>(blocks), config.blockDim = 64, config.dynamicSmemBytes = shared;
  config.stream = stream, config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  MUST(cudaLaunchKernelEx(&config, kernel, arguments...));
}
void launch_first(Marks* m, int does, Kind kind, int blocks = 2, size_t shared = 0) {
  launch(first, {attribute(kind, event)}, blocks, shared, m, does);
}
void second_behind(cudaEvent_t e, Marks* m, int does, int at, bool programmatic = false) {
  MUST(cudaStreamWaitEvent(other, e));
  launch_second(m, does, at, programmatic, other);
}

void with(Kind kind) {
  std::printf("%s\n", kNames[kind]);
  const auto sees = [&](const char* name, int does) {
    test(name, {0}, [&](Marks* m) {
      launch_first(m, does | kWaitsForSecond, kind);
      second_behind(event, m, kMarks, 1);
    });
  };
  sees("  the first sees what waits for its event, and triggers", kTriggers);
  sees("  ... without a trigger", 0);
  sees("  ... one of two blocks triggers", kOneBlockOnly);
  sees("  ... one of two blocks triggers, the other ends", kOneBlockOnly | kOtherBlockEnds);
  sees("  ... one thread of each block triggers", kOneThreadOnly);
  test("  the first sees a set behind its event", {0}, [&](Marks* m) {
    launch_first(m, kTriggers | kWaitsForSecond, kind);
    MUST(cudaStreamWaitEvent(other, event));
    MUST(cudaMemsetAsync(&m->second, 1, sizeof(int), other));
  });
  for (const bool programmatic : {false, true}) {
    std::printf("  the second is %s\n", programmatic ? "programmatic" : "plain");
    test("    result of the first: without wait", {1}, [&](Marks* m) {
      launch_first(m, kTriggers | kWritesAtEnd, kind);
      second_behind(event, m, kReads, 1, programmatic);
    });
    test("    result of the first: after griddepcontrol.wait", {1}, [&](Marks* m) {
      launch_first(m, kTriggers | kWritesAtEnd, kind);
      second_behind(event, m, kReads | kWaits, 1, programmatic);
    });
    test("    the third, plain, behind the second, which did not wait", {3}, [&](Marks* m) {
      launch_first(m, kTriggers | kWritesAtEnd, kind);
      second_behind(event, m, 0, 1, programmatic);
      launch_second(m, kReads, 3, false, other);
    });
  }
  test("  behind it in its stream", {1}, [&](Marks* m) {
    launch_first(m, kTriggers | kWritesAtEnd, kind);
    launch_second(m, kReads, 1, false);
  });
  test("  programmatic behind it in its stream: it sees the second", {0}, [&](Marks* m) {
    launch_first(m, kTriggers | kWaitsForSecond, kind);
    launch_second(m, kMarks, 1);
  });
  test("  more blocks than fit at once, the first sees the second", {0}, [&](Marks* m) {
    int sms = 0;
    MUST(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    launch_first(m, kTriggers | kWaitsForSecond, kind, sms + 1, 200 << 10);
    second_behind(event, m, kMarks, 1);
  });
  test("  of a programmatic launch, the first of which triggers: result, after wait", {1, 3}, [&](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    cudaLaunchAttribute overlaps = {};
    overlaps.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlaps.val.programmaticStreamSerializationAllowed = 1;
    launch(second, {overlaps, attribute(kind, event)}, 1, 0, m, kTriggersToo | kWaits, 5);
    second_behind(event, m, kReads, 1, true);
    launch_second(m, kReads | kWaits, 3, true, other);
  });
}

// A kernel that waits for the host, which waits for the event; marks in memory of the host.
void with_the_host(Kind kind) {
  Marks* m;
  MUST(cudaHostAlloc(&m, sizeof *m, cudaHostAllocMapped));
  std::memset(m, 0, sizeof *m);
  launch_first(m, kTriggers | kWaitsForSecond, kind);
  MUST(cudaEventSynchronize(event));
  __atomic_store_n(&m->second, 1, __ATOMIC_SEQ_CST);
  MUST(cudaDeviceSynchronize());
  tell("  the first sees what the host does when the event is complete", *m, {0});
  MUST(cudaFreeHost(m));
}

int main() {
  prepare();
  MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  MUST(cudaEventCreateWithFlags(&second_event, cudaEventDisableTiming));
  MUST(cudaFuncSetAttribute(first, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
  for (const Kind kind : {kProgrammatic, kAtBlockStart, kCompletion}) {
    with(kind);
    with_the_host(kind);
  }
  std::printf("two events\n");
  test("  the first, which does not trigger, sees the completion event's second", {0, 1}, [&](Marks* m) {
    launch(first, {attribute(kProgrammatic, second_event), attribute(kCompletion, event)}, 2, 0, m, kWaitsForSecond | kWritesAtEnd);
    second_behind(event, m, kMarks, 3);
    second_behind(second_event, m, kReads, 1);
  });
}
