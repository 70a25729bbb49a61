// SPDX-License-Identifier: Apache-2.0
enum { kSize = 8192, kTile = 32, kRows = 8 };
