// SPDX-License-Identifier: Apache-2.0
// One block of kSegment / 2 threads sorts a segment in shared memory: each thread owns one comparator of every step.
enum { kSegments = 1 << 19, kSegment = 128, kThreads = kSegment / 2 };
