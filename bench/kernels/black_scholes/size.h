// SPDX-License-Identifier: Apache-2.0
enum { kCount = 1 << 24, kBlock = 256 };
