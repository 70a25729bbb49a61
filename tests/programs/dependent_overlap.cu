// SPDX-License-Identifier: Apache-2.0
// What overlaps under programmatic dependent launch.
#include "overlap.h"
using namespace overlap;

int main() {
  prepare();
  test("the first sees what the second does after the trigger", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWaitsForSecond);
    launch_second(m, kMarks | kWaits, 1);
  });
  test("... without a trigger", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kWaitsForSecond);
    launch_second(m, kMarks | kWaits, 1);
  });
  test("... without the attribute", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWaitsForSecond);
    launch_second(m, kMarks | kWaits, 1, false);
  });
  test("... one of two blocks triggers", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kOneBlockOnly | kWaitsForSecond);
    launch_second(m, kMarks | kWaits, 1);
  });
  test("... one of two blocks triggers, the other ends", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kOneBlockOnly | kWaitsForSecond | kOtherBlockEnds);
    launch_second(m, kMarks | kWaits, 1);
  });
  test("... one thread of each block triggers", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kOneThreadOnly | kWaitsForSecond);
    launch_second(m, kMarks | kWaits, 1);
  });
  test("the second spins on what the first does after its trigger", {2}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, kSpinsOnFirst, 1);
  });
  test("both wait for each other: first, second", {0, 2}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWaitsForSecond);
    launch_second(m, kMarks | kSpinsOnFirst, 1);
  });
  test("result of the first: before wait, after it", {1, 3}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, kTriggersToo | kReads, 1);
    launch_second(m, kReads | kWaits, 3);
  });
  test("third, programmatic, waits; the second triggered and did not wait", {3}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, kTriggersToo, 1);
    launch_second(m, kReads | kWaits, 3);
  });
  test("third, programmatic, does not wait; the second did not trigger or wait", {3}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, 0, 1);
    launch_second(m, kReads, 3);
  });
  test("third, programmatic, does not wait; the second waited, then ended", {3}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, kWaits, 1);
    launch_second(m, kReads, 3);
  });
  test("third, plain; the second did not wait", {3}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, 0, 1);
    launch_second(m, kReads, 3, false);
  });
  test("a copy behind the second, which did not wait", {4}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, 0, 1);
    MUST(cudaMemcpyAsync(&m->seen[4], &m->result, sizeof(int), cudaMemcpyDeviceToDevice, stream));
  });
  test("a copy between: the first sees the second", {0}, [](Marks* m) {
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWaitsForSecond);
    MUST(cudaMemcpyAsync(&m->seen[4], &m->result, sizeof(int), cudaMemcpyDeviceToDevice, stream));
    launch_second(m, kMarks, 1);
  });
  test("an event record between: the first sees the second", {0}, [](Marks* m) {
    cudaEvent_t e;
    MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWaitsForSecond);
    MUST(cudaEventRecord(e, stream));
    launch_second(m, kMarks, 1);
  });
  test("an event behind the second, which did not wait; another stream reads", {4}, [](Marks* m) {
    cudaEvent_t e;
    cudaStream_t other;
    MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    first<<<2, 64, 0, stream>>>(m, kTriggers | kWritesAtEnd);
    launch_second(m, 0, 1);
    MUST(cudaEventRecord(e, stream));
    MUST(cudaStreamWaitEvent(other, e));
    MUST(cudaMemcpyAsync(&m->seen[4], &m->result, sizeof(int), cudaMemcpyDeviceToDevice, other));
    MUST(cudaStreamSynchronize(other));
  });
  test("wait without a predecessor", {1}, [](Marks* m) {
    const int one = 1;
    MUST(cudaMemcpy(&m->result, &one, sizeof one, cudaMemcpyHostToDevice));
    launch_second(m, kWaits | kReads | kTriggersToo, 1);
  });
  test("the first is on another stream", {0}, [](Marks* m) {
    cudaStream_t other;
    cudaEvent_t e;
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    first<<<2, 64, 0, other>>>(m, kTriggers | kWaitsForSecond);
    MUST(cudaEventRecord(e, other));
    MUST(cudaStreamWaitEvent(stream, e));
    launch_second(m, kMarks | kWaits, 1);
    MUST(cudaStreamSynchronize(other));
  });
}
