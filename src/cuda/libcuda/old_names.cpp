// SPDX-License-Identifier: Apache-2.0
// Older names whose newer versions take the same arguments. No CUDA header here: it renames the old names to the new.
#include "cuda/api.h"

#define US_OLD_1(old, now, a) \
  US_API int now(a);          \
  US_API int old(a);          \
  US_API int old(a x) { return now(x); }
#define US_OLD_2(old, now, a, b) \
  US_API int now(a, b);          \
  US_API int old(a, b);          \
  US_API int old(a x, b y) { return now(x, y); }
#define US_OLD_3(old, now, a, b, c) \
  US_API int now(a, b, c);          \
  US_API int old(a, b, c);          \
  US_API int old(a x, b y, c z) { return now(x, y, z); }

US_OLD_1(cuCtxDestroy, cuCtxDestroy_v2, void*)
US_OLD_1(cuCtxDetach, cuCtxDestroy_v2, void*)
US_OLD_1(cuCtxPopCurrent, cuCtxPopCurrent_v2, void**)
US_OLD_1(cuCtxPushCurrent, cuCtxPushCurrent_v2, void*)
US_OLD_1(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, int)
US_OLD_1(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, int)
US_OLD_2(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2, int, unsigned)
US_OLD_1(cuEventDestroy, cuEventDestroy_v2, void*)
US_OLD_1(cuStreamDestroy, cuStreamDestroy_v2, void*)
US_OLD_3(cuEventElapsedTime, cuEventElapsedTime_v2, float*, void*, void*)
US_OLD_3(cuMemHostRegister, cuMemHostRegister_v2, void*, unsigned long, unsigned)
US_OLD_3(cuCtxCreate, cuCtxCreate_v2, void**, unsigned, int)
