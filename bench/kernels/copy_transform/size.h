// SPDX-License-Identifier: Apache-2.0
// Each block stages kBlock elements and writes a * element[kBlock - 1 - t] + b.
enum { kCount = 3 << 25, kBlock = 256 };
