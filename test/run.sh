#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs all checks and tests: what CI runs. The last line is 'N passed, N failed'.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/test/setup_testing.sh" --no-build
exec "$root/dev" ci "$@"
