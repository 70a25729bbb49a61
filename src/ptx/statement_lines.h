// SPDX-License-Identifier: Apache-2.0
// PTX text with one statement of a body per line, so that a line number names a statement.
#pragma once
#include <string>
#include <string_view>

namespace us::ptx {

// The same program: comments are gone, and a label has a line of its own. Text that is no PTX stays as it is.
std::string one_statement_per_line(std::string_view text);
// The same lines, but for .loc, whose lines become empty: a parser then says of each instruction where it stands.
std::string without_locations(std::string_view text);

}  // namespace us::ptx
