// SPDX-License-Identifier: Apache-2.0
// How an entry point is declared: `US_API CUresult cuInit(unsigned flags) { ... }`.
#pragma once
#define US_API extern "C" __attribute__((visibility("default")))
