// SPDX-License-Identifier: Apache-2.0
// A static CUDA runtime without symbols, which the audit library finds by the archive that it was linked from.
#pragma once
#include <string>

namespace us::tools {

class ElfFile;

// The path of that archive, looked for as the audit library does; empty: there is none here.
std::string archive_of_runtime_in(const ElfFile&, const std::string& file);

}  // namespace us::tools
