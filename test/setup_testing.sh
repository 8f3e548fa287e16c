#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Tosaic needs and builds it. Runs as often as you like: what is there already is left.
#
#   test/setup_testing.sh [--run] [--no-build] [--recreate]
#
#   --run       only what examples/arm/run.sh needs (torch, numpy, Vela), not the tests' peers
#   --no-build  install only
#   --recreate  make the virtual environment anew
#
# Environment: TOSAIC_VENV   place of the virtual environment (default: .venv in the project)
#              PYTHON        the interpreter it is made from (default: python3)
# Packages come from where the user's pip and apt are set to look.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${TOSAIC_VENV:-$root/.venv}
python=${PYTHON:-python3}
level=test
build=1
recreate=0

say() { printf '== %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '  hint: %s\n' "$2" >&2
  exit 1
}

for arg in "$@"; do
  case "${arg//_/-}" in
    --run) level=run ;;
    --no-build) build=0 ;;
    --recreate) recreate=1 ;;
    -h | --help)
      sed -n '3,14s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) fail "unknown flag $arg" "the flags are --run, --no-build, --recreate" ;;
  esac
done

# --- Debian packages ------------------------------------------------------------------------------
apt_lists() {
  cat "$root/requirements/run.apt"
  [ $level = run ] || cat "$root/requirements/test.apt"
}

install_debian() {
  local wanted missing=() package sudo=()
  wanted=$(apt_lists | sed 's/#.*//; /^[[:space:]]*$/d')
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: make sure that these are installed:" $wanted
    return
  fi
  local have
  # Its exit status only says that some are missing.
  have=$({ dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' $wanted 2>/dev/null || true; } |
    sed -n 's/^ii *//p' | tr '\n' ' ')
  for package in $wanted; do
    [[ " $have" == *" $package "* ]] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "Debian packages are missing and neither root nor sudo is at hand" \
      "as root: apt-get install ${missing[*]}"
    sudo=(sudo)
  fi
  say "installing Debian packages: ${missing[*]}"
  local install=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get install -y -q --no-install-recommends "${missing[@]}")
  # The lists may be absent or old: they are fetched only if the first try says so.
  if ! "${install[@]}" >/dev/null 2>&1; then
    "${sudo[@]}" apt-get update -q
    "${install[@]}" || fail "apt-get could not install: ${missing[*]}"
  fi
}

# --- Python packages ------------------------------------------------------------------------------
log=$venv/setup.log
# pip's output goes to the log; of a failure its end is shown.
pip() { "$venv/bin/python" -m pip --disable-pip-version-check "$@" >>"$log" 2>&1; }
pip_install() {
  pip install "$@" && return
  tail -n 20 "$log" >&2
  fail "pip could not install $*" "the whole output is in $log"
}

# Hash of all that decides the content of the environment.
fingerprint() {
  cat "$root"/requirements/run.txt "$root/test/setup_testing.sh"
  [ "$1" = run ] || cat "$root/requirements/test.txt"
}
stamp_of() { printf '%s/.tosaic-%s-%s' "$venv" "$1" "$(fingerprint "$1" | sha256sum | cut -c1-16)"; }

is_current() {
  [ -x "$venv/bin/python" ] || return 1
  [ -e "$(stamp_of test)" ] || { [ $level = run ] && [ -e "$(stamp_of run)" ]; }
}

# Does this Python have the wanted torch (any build of it)?
has_torch() {
  "$1" -c 'import importlib.metadata, sys
sys.exit(importlib.metadata.version("torch").split("+")[0] != sys.argv[1])' "$torch" 2>/dev/null
}

make_environment() {
  "$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' 2>/dev/null ||
    fail "$python is not a Python of version 3.10 to 3.13" "set PYTHON to one"
  local options=()
  # A virtual environment cannot be seen from another one, so only a system's torch counts.
  if "$python" -c 'import sys; sys.exit(sys.prefix != sys.base_prefix)' && has_torch "$python"; then
    say "using the installed torch $torch of $python"
    options=(--system-site-packages)
  fi
  say "making the virtual environment $venv"
  "$python" -m venv "${options[@]}" "$venv" ||
    fail "$python -m venv failed" "install python3-venv, or set PYTHON to a Python that has venv"
}

# torch is resolved first: its default build for Linux pulls several GB of CUDA libraries.
install_torch() {
  has_torch "$venv/bin/python" && return 0
  local report
  report=$(mktemp)
  if pip install --dry-run --no-deps --report "$report" "torch==$torch+cpu"; then
    say "installing torch $torch (CPU build)"
    pip_install "torch==$torch+cpu"
  else
    if pip install --dry-run --no-deps --report "$report" "torch==$torch" &&
      grep -q '"nvidia-\|"cuda-' "$report"; then
      printf 'warning: only a CUDA build of torch %s is within reach of pip: several GB\n' "$torch" >&2
      printf '  hint: let pip find CPU wheels (for instance by PIP_FIND_LINKS) and run this again\n' >&2
    fi
    say "installing torch $torch"
    pip_install "torch==$torch"
  fi
  rm -f "$report"
}

install_python() {
  torch=$(sed -n 's/^torch==//p' "$root/requirements/run.txt")
  [ -x "$venv/bin/python" ] || make_environment
  install_torch
  say "installing the Python packages of requirements/$level.txt"
  pip_install -r "$root/requirements/$level.txt"
  rm -f "$venv"/.tosaic-*
  touch "$(stamp_of $level)"
}

# Vela 4.2 and 5.2 cannot stand in one environment, so the old one has its own, inside of the first.
install_vela_of_080() {
  local list=$root/requirements/tosa080.txt place=$venv/tosa080 stamp
  stamp=$place/.tosaic-$(sha256sum <"$list" | cut -c1-16)
  [ ! -e "$stamp" ] || return 0
  say "installing the Python packages of requirements/tosa080.txt into $place"
  rm -rf "$place"
  "$venv/bin/python" -m venv "$place" || fail "$venv/bin/python -m venv $place failed"
  "$place/bin/python" -m pip --disable-pip-version-check install -r "$list" >>"$log" 2>&1 ||
    fail "pip could not install -r $list" "the whole output is in $log"
  touch "$stamp"
}

install_debian
[ $recreate = 0 ] || rm -rf "$venv"
if is_current; then
  say "environment $venv is up to date"
else
  install_python
fi
[ $level = run ] || install_vela_of_080
[ $build = 0 ] || "$root/dev" build
