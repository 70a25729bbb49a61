// SPDX-License-Identifier: Apache-2.0
// Each block copies kTiles tiles of kTile elements, one after the other:
// out = a * element[kTile - 1 - i] + b of its tile.
enum { kCount = 1 << 26, kBlock = 256, kTile = kBlock * 4, kTiles = 32, kStages = 3 };
