#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Suites of tests under the names that ExecuTorch's Arm backend uses.
#
#   test/test_arm_baremetal.sh SUITE      one of the list that it prints without a SUITE
#
# It needs what test/setup_testing.sh installs and builds. The exit status is 0 only when a test of the
# suite ran and all passed; 2 says that the suite does not exist here.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${TOSAIC_VENV:-$root/.venv}
name=$(basename "$0")

fail() {
  printf 'error: %s\n  hint: %s\n' "$1" "$2" >&2
  exit 2
}

# Words of pytest: those tests, in as many processes as there are cores.
run_pytest() {
  [ -x "$venv/bin/pytest" ] || fail "$venv/bin/pytest does not exist" "test/setup_testing.sh makes it"
  [ -x "$root/build/release/bin/tosaic" ] || fail "build/release/bin/tosaic does not exist" "./dev build makes it"
  (cd "$root" && PATH="$venv/bin:$PATH" OMP_NUM_THREADS=1 \
    "$venv/bin/pytest" -c /dev/null -v -n auto -p no:cacheprovider "$@")
}

not_supported() { fail "$suite is not supported: $1" "$2"; }
no_fvp() { run_pytest "$@" --arm_run_corstoneFVP; }
no_vkml() { not_supported "Tosaic compiles for Ethos-U and plain TOSA, not for VGF" "see tosaic compile --help for --target"; }

test_pytest() { # All tests of operators, passes and networks, on this machine
  test_pytest_ops
  test_pytest_models
}
test_pytest_ops() { # The tests of everything but networks
  run_pytest test/ --ignore=test/models
}
test_pytest_models() { # The tests of networks
  run_pytest test/models
}
test_models_tosa() { # Networks, float and quantised, as TOSA
  run_pytest test/models -k tosa
}
test_models_ethos-u55() { # Networks compiled for Ethos-U55
  run_pytest test/models -k u55
}
test_models_ethos-u65() { # Networks compiled for Ethos-U65
  run_pytest test/models -k u65
}
test_models_ethos-u85() { # Networks compiled for Ethos-U85
  run_pytest test/models -k u85
}
test_pytest_ethosu_fvp() { # Not supported: test_pytest on an FVP
  no_fvp test/
}
test_pytest_ops_ethosu_fvp() { # Not supported: test_pytest_ops on an FVP
  no_fvp test/ --ignore=test/models
}
test_pytest_models_ethosu_fvp() { # Not supported: test_pytest_models on an FVP
  no_fvp test/models
}
test_run_ethosu_fvp() { # Not supported: run.sh on an FVP
  not_supported "there is no executor runner for an FVP" "examples/arm/run.sh runs the .pte on this machine"
}
test_full_ethosu_fvp() { # Not supported: all of that on an FVP
  not_supported "there is no executor runner for an FVP" "test/run.sh runs everything on this machine"
}
test_memory_allocation() { # Not supported: the executor runner's memory on an FVP
  not_supported "there is no executor runner for an FVP" "tosaic inspect shows what memory a .pte plans"
}
test_undefinedbehavior_sanitizer() { # Not supported: the executor runner on an FVP
  not_supported "there is no executor runner for an FVP" \
    "./dev test --preset dev runs the compiler's tests under ASan and UBSan"
}
test_pytest_vkml() { # Not supported: VGF
  no_vkml
}
test_pytest_ops_vkml() { # Not supported: VGF
  no_vkml
}
test_pytest_models_vkml() { # Not supported: VGF
  no_vkml
}
test_run_vkml() { # Not supported: VGF
  no_vkml
}
test_models_vkml() { # Not supported: VGF
  no_vkml
}
test_full_vkml() { # Not supported: VGF
  no_vkml
}
test_model_smollm2-135M() { # Not supported: needs weights from elsewhere
  not_supported "no test fetches weights" "test_pytest_models runs the networks that there are"
}
test_smaller_stories_llama() { # Not supported: needs weights from elsewhere
  not_supported "no test fetches weights" "test_pytest_models runs the networks that there are"
}

suites() { sed -n 's/^\(test_[^ (]*\)() { # /\1\t/p' "${BASH_SOURCE[0]}"; }
help() {
  printf 'usage: %s SUITE\n\n' "$name"
  printf '  %-34s %s\n' all "All that are supported"
  suites | while IFS=$'\t' read -r one what; do printf '  %-34s %s\n' "$one" "$what"; done
}

[ $# -le 1 ] || fail "one suite at a time, not $#" "run $name once for each"
suite=${1:-}
case $suite in
  "" | -h | --help)
    help
    [ -n "$suite" ] || fail "the name of a suite is missing" "one of the list above"
    exit 0
    ;;
  all) run=test_pytest ;; # the others that are supported are parts of it
  *)
    cut -f1 <(suites) | grep -qxF -- "$suite" || fail "there is no suite $suite" "$name --help lists them"
    run=$suite
    ;;
esac
printf '%s %s\n' "$name" "$suite"
"$run"
printf '%s %s: PASS\n' "$name" "$suite"
