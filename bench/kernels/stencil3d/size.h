// SPDX-License-Identifier: Apache-2.0
// A block owns a column of kTileX x kTileY points and marches through kDepth planes of it.
// Neighbours outside are clamped.
enum { kX = 512, kY = 512, kZ = 256, kTileX = 32, kTileY = 8, kDepth = 64, kPlane = kX * kY };
