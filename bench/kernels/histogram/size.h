// SPDX-License-Identifier: Apache-2.0
enum { kWords = 1 << 25, kBins = 256, kBlock = 256, kBlocks = 512 };
