# SPDX-License-Identifier: Apache-2.0
from understudy import main

main()
