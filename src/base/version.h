// SPDX-License-Identifier: Apache-2.0
#pragma once
namespace us {
extern const char* const kVersionText;  // "0.1.0"
}
