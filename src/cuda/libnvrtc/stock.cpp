// SPDX-License-Identifier: Apache-2.0
#include "cuda/libnvrtc/stock.h"

#include <dlfcn.h>

#include "cuda/stock/stock_library.h"

namespace us::nvrtc {

void* stock_function(const char* name) {
  static void* const handle = cuda::open_stock({.file = "libnvrtc.so." US_NVRTC_MAJOR,
                                                .setting = "nvrtc",
                                                .variable = "UNDERSTUDY_NVRTC",
                                                .major = US_NVRTC_MAJOR,
                                                .beside = "libnvrtc-builtins.so." US_NVRTC_MAJOR ".",
                                                .needed = "this program compiles CUDA C++ at run time"});
  return handle ? dlsym(handle, name) : nullptr;
}

}  // namespace us::nvrtc
