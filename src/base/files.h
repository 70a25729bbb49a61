// SPDX-License-Identifier: Apache-2.0
// Tells whether a path can be written, before hours of work go into it. Asking creates and changes nothing.
#pragma once
#include "base/types.h"

namespace us {

std::string why_no_file(const std::string& path);           // empty: a file of that name can be written
std::string why_no_files_in(const std::string& directory);  // empty: files can be made in it
std::string with_process(std::string path);                 // %p becomes the process id

}  // namespace us
