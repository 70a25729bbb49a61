// SPDX-License-Identifier: Apache-2.0
// Turns PTX text into an ir::Module in register form, and links several modules.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "ir/ir.h"

namespace us::ptx {

// Whether the first word that is no comment is a directive.
bool is_ptx(std::string_view text);

// All errors of the text, in its order, or the module. The text need not outlive the call.
Result<std::unique_ptr<ir::Module>> parse(std::string_view text, std::string name);

// One module out of several: extern names resolved, weak and common ones merged, duplicate definitions an error.
// What stays extern (functions of the driver such as vprintf, dynamic shared memory) stays so.
Result<std::unique_ptr<ir::Module>> link(std::vector<std::unique_ptr<ir::Module>> modules, std::string name);

// First byte of a CTA's shared window that a program may use.
inline constexpr u32 kSharedBase = 1024;

// Offsets of .shared, .const and .local variables and of parameters; Function::local_bytes, shared_bytes, param_bytes.
// parse() and link() have called it. Diagnostics: .const bank too large, and the like.
std::vector<Diag> assign_layout(ir::Module&);

}  // namespace us::ptx
