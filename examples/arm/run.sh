#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a PyTorch network to a .pte for Ethos-U: sets up, builds, exports, calibrates, compiles, runs.
#
#   examples/arm/run.sh --model_name=NAME [--target=T] [--output=DIR] [--build_only]
#
#   --model_name=NAME  a network of test/models, such as mv2, dscnn or add
#   --target=T         default ethos-u55-128
#   --output=DIR       default out/NAME
#   --build_only       stop when the .pte is written: neither a look into it nor a run
#
# A value may also follow after a space; dashes and underscores are the same.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
venv=${TOSAIC_VENV:-$root/.venv}
model= target=ethos-u55-128 output= build_only=0

step() { printf '\n== %s\n' "$*"; }
usage() { sed -n '3,13s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
fail() {
  printf 'error: %s\n' "$1" >&2
  printf '  hint: %s\n' "$2" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  flag=${1%%=*}
  name=${flag//_/-}
  case $name in
    --model-name | --target | --output)
      if [[ $1 == *=* ]]; then
        value=${1#*=}
      else
        [ $# -gt 1 ] || fail "$flag needs a value" "for instance $flag=VALUE"
        value=$2
        shift
      fi
      [ -n "$value" ] || fail "$flag needs a value" "for instance $flag=VALUE"
      case $name in
        --model-name) model=$value ;;
        --target) target=$value ;;
        --output) output=$value ;;
      esac
      ;;
    --build-only) build_only=1 ;;
    -h | --help)
      usage
      exit 0
      ;;
    *) fail "unknown flag $1" "the flags are --model_name, --target, --output, --build_only" ;;
  esac
  shift
done
[ -n "$model" ] || fail "--model_name is missing" "for instance --model_name=dscnn"
nets=$(sed -n 's/^    "\([a-z0-9_]*\)": Net(.*/\1/p' "$root/test/models/__init__.py")
grep -qxF -- "$model" <<<"$nets" || fail "there is no network $model in test/models" \
  "there are $(tr '\n' ' ' <<<"$nets")"
case $target in
  ethos-u* | TOSA-*+u[568]*) ;;
  *) fail "--target=$target: a .pte for an Ethos-U is made here" \
    "tosaic compile MODEL.pt2 takes the other targets" ;;
esac
output=${output:-$root/out/$model}

step "set-up"
"$root/test/setup_testing.sh" --run --no-build

step "building build/release/bin/tosaic"
"$root/dev" build --target tosaic

step "exporting $model to $output"
mkdir -p "$output"
output=$(cd "$output" && pwd)
export PATH="$venv/bin:$PATH"
(cd "$root" && "$venv/bin/python" -m test.models.export "$model" "$output" --samples 64)

step "quantising by ${model}_cal.npz and compiling for $target"
"$root/build/release/bin/tosaic" compile "$output/$model.pt2" --target "$target" \
  --calibrate "$output/${model}_cal.npz" -o "$output/$model.pte" --dump "$output/dump"

if [ $build_only = 0 ]; then
  step "what $output/$model.pte holds"
  "$root/build/release/bin/tosaic" inspect "$output/$model.pte"

  step "running it on this machine"
  if "$venv/bin/python" -c 'import importlib.util as u; exit(u.find_spec("executorch") is None)'; then
    "$root/dev" build --target tosaic_standin
  fi
  (cd "$root" && "$venv/bin/python" -m test.models.run "$model" "$output" "$target")
fi
