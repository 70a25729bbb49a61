// SPDX-License-Identifier: Apache-2.0
// nvJitLink's numbers.
#pragma once
#include "base/types.h"

namespace us::nvjitlink {

enum Code : int {
  Success,
  UnrecognizedOption,
  MissingArch,
  InvalidInput,
  PtxCompile,
  NvvmCompile,
  Internal,
  Threadpool,
  UnrecognizedInput,
  Finalize,
  NullInput,
  IncompatibleOptions,
  IncorrectInputType,
  ArchMismatch,
  OutdatedLibrary,
  MissingFatbin,
  UnrecognizedArch,
  UnsupportedArch,
  LtoNotEnabled,
};

enum class Kind : u32 { None, Cubin, Ptx, LtoIr, Fatbin, Object, Library, Index, Any = 10 };

}  // namespace us::nvjitlink
