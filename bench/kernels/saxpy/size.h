// SPDX-License-Identifier: Apache-2.0
enum { kCount = 3 << 25, kBlock = 256 };
