// SPDX-License-Identifier: Apache-2.0
// cuGetExportTable: private tables between libraries. The only one is ours, for libcudart.so.13.
#include <cstring>

#include "cuda/api.h"
#include "cuda/entry_table.h"

US_API int cuGetExportTable(const void** table, const void* id) {
  constexpr int kInvalidValue = 1;
  if (!table || !id || std::memcmp(id, us::cuda::kRuntimeTableId, sizeof us::cuda::kRuntimeTableId) != 0)
    return kInvalidValue;
  *table = us::cuda::runtime_functions();
  return 0;
}
