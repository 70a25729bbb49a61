/* SPDX-License-Identifier: Apache-2.0
 * What Understudy can tell a program beyond CUDA's own API. Needs no library of ours to link with: a program asks for the table
 * and gets null on a real device, so one binary runs on both. Link with -lcuda.
 *
 *   #include <cuda.h>
 *   #include "understudy.h"
 *   const understudyFunctions* u = understudyGetFunctions();
 *   understudyCompression c;
 *   if (u && u->measureCompression(pointer, bytes, &c) == 0) ...
 */
#ifndef UNDERSTUDY_H
#define UNDERSTUDY_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lines of 128 bytes, and how many of them compressible memory would keep in 4, 2 or 1 sectors of 32 bytes. */
typedef struct {
  unsigned long long lines;
  unsigned long long lines_1x, lines_2x, lines_4x;
  int compressible; /* 1: all of the range was created with CU_MEM_ALLOCATION_COMP_GENERIC; hardware compresses nothing else */
} understudyCompression;

typedef struct {
  unsigned long long address, bytes;
  int writes; /* 0: reads */
} understudyRange;

typedef struct {
  size_t size; /* of this table in bytes: what lies behind it is newer than this header */
  /* Of the present contents of device memory; work that writes them must have ended. Bytes of lines that are not whole are left
   * out. 0, or CUDA_ERROR_INVALID_VALUE (1): the range is not readable device memory, or `out` is null. */
  int (*measureCompression)(unsigned long long address, size_t bytes, understudyCompression* out);
  /* The next host function that this thread gives to a stream (cudaLaunchHostFunc, cuLaunchHostFunc) touches these ranges of device
   * memory. Of libraries that compute on the host what a GPU would: `understudy check` takes the function for such work. */
  void (*nextHostFunctionTouches)(const understudyRange* ranges, size_t count);
} understudyFunctions;

#ifdef __cplusplus
}
#endif

#define UNDERSTUDY_TABLE_ID {'u', 'n', 'd', 'e', 'r', 's', 't', 'u', 'd', 'y', '-', 'o', 'w', 'n', '-', '1'}

#ifdef __cuda_cuda_h__ /* cuda.h stands before */
static inline const understudyFunctions* understudyGetFunctions(void) {
  static const CUuuid id = {UNDERSTUDY_TABLE_ID};
  const void* table = NULL;
  return cuGetExportTable(&table, &id) == CUDA_SUCCESS ? (const understudyFunctions*)table : NULL;
}
#endif

#endif
