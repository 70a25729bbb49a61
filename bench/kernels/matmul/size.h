// SPDX-License-Identifier: Apache-2.0
// 1360 floats are an odd number of cache lines: rows do not fall on one another in the caches.
enum { kSize = 1360, kTile = 16 };
