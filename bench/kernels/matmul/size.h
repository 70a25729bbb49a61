// SPDX-License-Identifier: Apache-2.0
// 1360 floats are an odd number of cache lines, so rows do not collide in the sets of the caches.
enum { kSize = 1360, kTile = 16 };
