// SPDX-License-Identifier: Apache-2.0
// Driver functions by base name and CUDA version: cuGetProcAddress, cudaGetDriverEntryPoint.
#pragma once
#include "cuda/entry_table.h"

namespace us::cuda {

enum class LookupStatus : int { Found = 0, NotFound = 1, VersionTooOld = 2 };  // CUdriverProcAddressQueryResult

struct LookupResult {
  LookupStatus status = LookupStatus::NotFound;
  EntryFn fn = nullptr;
};

// The newest symbol of that base name that `version` has; with `per_thread` its _ptsz or _ptds variant if there is one.
LookupResult look_up(std::string_view base, int version, bool per_thread);

}  // namespace us::cuda
