// SPDX-License-Identifier: Apache-2.0
enum { kBodies = 16384, kBlock = 256 };
