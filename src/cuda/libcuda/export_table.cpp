// SPDX-License-Identifier: Apache-2.0
// cuGetExportTable: private tables. Three are ours: for libcudart.so.13, for libnvidia-ml.so.1, and for
// programs (own_functions.h).
#include <cstring>

#include "cuda/api.h"
#include "cuda/entry_table.h"
#include "cuda/foreign.h"
#include "cuda/libcuda/own_functions.h"
#include "cuda/process/device_use.h"

US_API int cuGetExportTable(const void** table, const void* id);
US_API int cuGetExportTable(const void** table, const void* id) {
  constexpr int kInvalidValue = 1;
  if (!table || !id) return kInvalidValue;
  const auto is = [id](const unsigned char(&known)[16]) { return std::memcmp(id, known, sizeof known) == 0; };
  if (is(us::cuda::kRuntimeTableId))
    *table = us::cuda::runtime_functions();
  else if (is(us::cuda::kOwnTableId))
    *table = us::cuda::own_functions();
  else if (is(us::cuda::kDeviceUseTableId))
    *table = us::cuda::device_use();
  else
    return us::cuda::note_foreign_caller(__builtin_return_address(0)), kInvalidValue;
  return 0;
}
