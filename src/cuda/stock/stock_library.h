// SPDX-License-Identifier: Apache-2.0
// A library of the CUDA toolkit that ours of the same name asks.
#pragma once

namespace us::cuda {

struct StockLibrary {
  const char* file;      // "libnvrtc.so.13"
  const char* setting;   // the one that names it: "nvrtc"; null: none
  const char* variable;  // the same, for a person: "UNDERSTUDY_NVRTC"
  const char* major;     // of its toolkit: "13"
  const char* beside;    // start of the names of libraries it asks for, or null
  const char* needed;    // "this program compiles CUDA C++ at run time"; null: it can do without
};

// The one that the program meant, else one where toolkits are. Null: there is none; stderr says so if it is needed.
void* open_stock(const StockLibrary&);

}  // namespace us::cuda
