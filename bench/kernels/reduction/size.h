// SPDX-License-Identifier: Apache-2.0
enum { kCount = 3 << 26, kBlock = 256, kPerThread = 4, kPerBlock = kBlock * kPerThread };
