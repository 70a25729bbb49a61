// SPDX-License-Identifier: Apache-2.0
// A matrix of kRows x kColumns floats goes through tiles of kTileRows x kTileColumns; each block does kTiles tiles of a
// row of tiles: out = a * element + b.
enum {
  kRows = 8192,
  kColumns = 8192,
  kTileRows = 32,
  kTileColumns = 64,
  kTiles = 32,
  kBlock = 128,
  kStages = 2,
  kTileBytes = kTileRows * kTileColumns * 4,
  kPerThread = kTileRows * kTileColumns / 4 / kBlock
};
