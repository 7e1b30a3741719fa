#!/bin/sh
# Installs what this machine lacks to run the service: npm packages, and through the system's package manager git,
# bubblewrap and, for the browser tests (with CI=true or SETUP_BROWSER=1), Chromium.
# Safe to repeat, and quick when there is nothing to do. Exits with 0 only if the service can run.
set -eu
cd "$(dirname "$0")/.."

problems=0

say() { printf '%s\n' "$*"; }

problem() {
  printf 'PROBLEM: %s\n' "$*" >&2
  problems=$((problems + 1))
}

has() { command -v "$1" >/dev/null 2>&1; }

is_linux() { [ "$(uname -s)" = Linux ]; }

# --- System packages

# The command that installs packages on this system, without the packages; nothing when it is not known.
package_manager() {
  if has apt-get; then say "apt-get install -y --no-install-recommends"
  elif has dnf; then say "dnf install -y"
  elif has apk; then say "apk add"
  elif has pacman; then say "pacman -S --needed --noconfirm"
  elif has zypper; then say "zypper --non-interactive install"
  fi
}

# "root", "sudo" (without asking for a password) or "none".
privilege() {
  if [ "$(id -u)" -eq 0 ]; then say root
  elif has sudo && sudo -n true 2>/dev/null; then say sudo
  else say none
  fi
}

as_root() {
  set -- env DEBIAN_FRONTEND=noninteractive "$@"
  if [ "$(privilege)" = sudo ]; then sudo -n "$@"; else "$@"; fi
}

# install_system_packages PACKAGE...
install_system_packages() {
  install=$(package_manager)
  if [ -z "$install" ]; then
    say "Install these with your system's package manager: $*"
    return 1
  fi
  if [ "$(privilege)" = none ]; then
    say "This needs your password. Run it, then run this again:"
    say "  sudo $install $*"
    return 1
  fi
  say "Installing $* ..."
  if has apt-get; then as_root apt-get update -qq || say "The package lists could not be refreshed; trying with the old ones."; fi
  # $install is a command with its options.
  # shellcheck disable=SC2086
  as_root $install "$@" >/dev/null
}

wants_browser() {
  case "${SETUP_BROWSER:-${CI:-}}" in "" | 0 | false) return 1 ;; *) return 0 ;; esac
}

has_browser() { has chromium || has chromium-browser || has google-chrome; }

check_system() {
  needed=""
  has git || needed="$needed git"
  if is_linux && ! has bwrap; then needed="$needed bubblewrap"; fi
  if [ -n "$needed" ]; then
    # shellcheck disable=SC2086
    install_system_packages $needed || problem "Missing:$needed."
  fi

  if wants_browser && ! has_browser; then
    install_system_packages chromium || say "Chromium could not be installed. The browser tests will not run."
  elif ! has_browser; then
    say "Chromium is not installed. Only the browser tests need it: SETUP_BROWSER=1 npm run setup installs it."
  fi
}

# --- Node and npm packages

check_node() {
  if ! has node || ! has npm; then
    say "Node and npm are missing. Install Node 24 (https://nodejs.org), or any Node from 20 on." >&2
    exit 1
  fi
  if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
    say "Node $(node -v) is too old to install the packages. Install Node 24 (https://nodejs.org)." >&2
    exit 1
  fi
}

install_npm_packages() {
  lock=$(cksum <package-lock.json)
  if [ -f node_modules/.setup ] && [ "$(cat node_modules/.setup)" = "$lock" ]; then return 0; fi

  say "Installing the npm packages ..."
  if ! npm ci --no-audit --no-fund --loglevel=error; then
    say "'npm ci' refused (see above). Trying 'npm install', which leaves out what the registry does not have."
    if ! npm install --no-save --no-audit --no-fund --loglevel=error; then
      say "The npm packages could not be installed. Is the registry ($(npm config get registry)) within reach?" >&2
      exit 1
    fi
  fi
  say "$lock" >node_modules/.setup
}

# The service needs Node 24. Its package brings one along where there is one for the platform.
check_runtime() {
  PATH="$PWD/node_modules/.bin:$PATH"
  export PATH
  if ! major=$(node -p 'process.versions.node.split(".")[0]') || [ "$major" -lt 24 ]; then
    say "There is no packaged Node for this platform ($(uname -sm)), and the installed one is older than 24." >&2
    say "Install Node 24 or newer (https://nodejs.org) and run this again." >&2
    exit 1
  fi
}

# The embedded database is one of the npm packages.
link_postgres() {
  node scripts/link-postgres.ts || problem "The embedded PostgreSQL does not run (see above). Set DATABASE_URL to use another server."
}

warm_packages() {
  node scripts/warm-packages.ts || problem "The packages for building the example apps could not be installed (see above)."
}

# The pages for people; quick, so it is done every time.
build_dashboard() {
  if ! node node_modules/vite/bin/vite.js build --config clients/dashboard/vite.config.ts --logLevel warn; then
    problem "The dashboard could not be built (see above)."
  fi
}

# --- The sandbox

# Makes a sandbox as the service does: root hands over to a user of no rights, who isolates itself.
try_sandbox() {
  set -- bwrap --unshare-user --unshare-all --disable-userns --cap-drop ALL --bind / / --proc /proc --dev /dev true
  if [ "$(id -u)" -eq 0 ]; then
    set -- bwrap --bind / / --bind /proc /proc --dev /dev \
      setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"
  fi
  "$@" 2>&1
}

# kernel_setting NAME: its value, or nothing where the kernel does not have it.
kernel_setting() { cat "/proc/sys/$1" 2>/dev/null || true; }

explain_sandbox() {
  if [ "$(kernel_setting kernel/apparmor_restrict_unprivileged_userns)" = 1 ]; then
    say "AppArmor keeps programs from making user namespaces. To allow it until the next start of the machine:"
    say "  sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    say "To keep it, write that setting into a file in /etc/sysctl.d, or give bwrap an AppArmor profile with 'userns'."
  elif [ "$(kernel_setting kernel/unprivileged_userns_clone)" = 0 ]; then
    say "The kernel keeps users from making namespaces. To allow it until the next start of the machine:"
    say "  sudo sysctl -w kernel.unprivileged_userns_clone=1"
  elif [ "$(kernel_setting user/max_user_namespaces)" = 0 ]; then
    say "The kernel allows no user namespaces. To allow some until the next start of the machine:"
    say "  sudo sysctl -w user.max_user_namespaces=15000"
  else
    say "Inside a container, the container must be allowed to make user namespaces (for Docker:"
    say "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined)."
  fi
  say "Without a sandbox, builds and apps run with your own rights. Choose that only for code you trust: SANDBOX=none"
}

check_sandbox() {
  if ! is_linux; then
    say "The sandbox needs Linux. Here the service starts only with SANDBOX=none, for code you trust."
    return 0
  fi
  has bwrap || return 0
  if ! reason=$(try_sandbox); then
    problem "bubblewrap cannot make a sandbox here: $reason"
    explain_sandbox
  fi
}

check_node
check_system
install_npm_packages
check_runtime
link_postgres
check_sandbox
warm_packages
build_dashboard

if [ "$problems" -gt 0 ]; then
  say "Setup is not complete; $problems problem(s), see above." >&2
  exit 1
fi
say "Ready. Next:"
say "  npm start    starts everything on this machine, and prints a first token and a request to try"
say "  npm test     runs the tests"
