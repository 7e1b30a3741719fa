#!/bin/sh
# Installs everything that the service needs and this machine lacks: npm packages and, with the system's package manager,
# git and bubblewrap. With CI=true or SETUP_BROWSER=1 it also installs Chromium for the browser tests.
# Safe to repeat, and quick when nothing is missing. Exits with 0 only if the service can run.
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

is_ci() {
  case "${CI:-}" in "" | 0 | false) return 1 ;; *) return 0 ;; esac
}

# with_progress TEXT COMMAND...: runs a command, and prints a dot each second so that setup is never silent for long.
with_progress() {
  printf '%s ' "$1"
  shift
  while sleep 1; do printf .; done &
  progress=$!
  result=0
  "$@" || result=$?
  stop_progress
  printf '\n'
  return "$result"
}

progress=""

stop_progress() {
  if [ -n "$progress" ]; then kill "$progress" 2>/dev/null || true; fi
  progress=""
}

trap stop_progress EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- System packages

# Prints the command that installs packages on this system; prints nothing if no package manager is known.
package_manager() {
  if has apt-get; then say "apt-get install -y --no-install-recommends"
  elif has dnf; then say "dnf install -y"
  elif has apk; then say "apk add"
  elif has pacman; then say "pacman -S --needed --noconfirm"
  elif has zypper; then say "zypper --non-interactive install"
  fi
}

# Prints "root", "sudo" (only if sudo needs no password) or "none".
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

as_root_quietly() { as_root "$@" >/dev/null; }

# install_system_packages PACKAGE...
install_system_packages() {
  install=$(package_manager)
  if [ -z "$install" ]; then
    say "No known package manager was found. Install these packages yourself: $*"
    return 1
  fi
  if [ "$(privilege)" = none ]; then
    say "System packages are missing, and sudo requires a password. Run this command, then run 'npm run setup' again:"
    say "  sudo $install $*"
    return 1
  fi
  if has apt-get; then
    with_progress "Updating the package lists" as_root apt-get update -qq ||
      say "The package lists could not be updated. Continuing with the existing ones."
  fi
  # $install is a command with its options.
  # shellcheck disable=SC2086
  with_progress "Installing $*" as_root_quietly $install "$@"
}

wants_browser() {
  if [ -z "${SETUP_BROWSER:-}" ]; then is_ci; else [ "$SETUP_BROWSER" != 0 ] && [ "$SETUP_BROWSER" != false ]; fi
}

has_browser() { has chromium-headless-shell || has chromium || has chromium-browser || has google-chrome; }

check_system() {
  needed=""
  has git || needed="$needed git"
  if is_linux && ! has bwrap; then needed="$needed bubblewrap"; fi
  if [ -n "$needed" ]; then
    # shellcheck disable=SC2086
    install_system_packages $needed || problem "These system packages are missing:$needed."
  fi

  if wants_browser && ! has_browser; then
    # Not every distribution has the first package, which is smaller and needs less CPU time.
    install_system_packages chromium-headless-shell || install_system_packages chromium ||
      say "Chromium could not be installed. The browser tests will not run."
  elif ! has_browser; then
    say "Chromium is not installed. Only the browser tests need it. To install it, run: SETUP_BROWSER=1 npm run setup"
  fi
}

# --- Node and npm packages

check_node() {
  if ! has node || ! has npm; then
    say "Node or npm is missing. Install Node 20 or newer with npm (https://nodejs.org)." >&2
    exit 1
  fi
  if [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
    say "Node $(node -v) is too old to install the npm packages. Install Node 20 or newer (https://nodejs.org)." >&2
    exit 1
  fi
}

install_npm_packages() {
  lock=$(cksum <package-lock.json)
  if [ -f node_modules/.setup ] && [ "$(cat node_modules/.setup)" = "$lock" ]; then return 0; fi

  say "The first setup takes one to five minutes and 2 GB of disk."
  if ! with_progress "Installing the npm packages" npm ci --no-audit --no-fund --loglevel=error; then
    if is_ci; then
      say "'npm ci' failed (see above). If it rejects package-lock.json, run 'npm run lockfile' to complete it." >&2
      exit 1
    fi
    say "'npm ci' failed (see above). Trying 'npm install', which omits optional packages that the registry does not have."
    if ! with_progress "Installing the npm packages" npm install --no-save --no-audit --no-fund --loglevel=error; then
      say "The npm packages could not be installed. Check that this machine can reach the registry $(npm config get registry)." >&2
      exit 1
    fi
  fi
  say "$lock" >node_modules/.setup
}

# npm 9 links a command of no package if it has left out another package with this command, which is for another processor.
link_runtime() {
  for package in node_modules/node-linux-*; do
    if [ -x "$package/bin/node" ] && ! [ -e node_modules/.bin/node ]; then
      ln -s "../${package#node_modules/}/bin/node" node_modules/.bin/node
    fi
  done
}

# The service needs Node 24. On most platforms, an npm package contains it.
check_runtime() {
  PATH="$PWD/node_modules/.bin:$PATH"
  export PATH
  if ! major=$(node -p 'process.versions.node.split(".")[0]') || [ "$major" -lt 24 ]; then
    # npm leaves out an optional package that it cannot download, without an error.
    rm -f node_modules/.setup
    say "The service needs Node 24. npm has not installed a Node package for this platform ($(uname -sm)), and the installed Node is older." >&2
    say "Run 'npm run setup' again, in case the download failed. Otherwise install Node 24 or newer (https://nodejs.org) first." >&2
    exit 1
  fi
}

# The embedded PostgreSQL is one of the npm packages.
link_postgres() {
  with_progress "Preparing the embedded PostgreSQL" node scripts/link-postgres.ts ||
    problem "The embedded PostgreSQL cannot run (see above). Set DATABASE_URL to use another PostgreSQL server."
}

# Only the first start is slower without it.
create_database_template() {
  with_progress "Preparing an empty database" node scripts/create-database-template.ts ||
    say "No empty database could be prepared (see above). The first start creates it, and takes longer."
}

fill_caches() {
  with_progress "Filling the caches for builds and programs" node scripts/fill-caches.ts ||
    problem "The caches for builds and programs could not be filled (see above)."
}

# Only starts are slower without it.
build_service() {
  with_progress "Building the service" node scripts/build-service.ts ||
    say "The service could not be built in advance (see above). It runs from its sources, and its starts take longer."
}

# The build takes only a few seconds, so it always runs.
build_dashboard() {
  if ! with_progress "Building the dashboard" node node_modules/vite/bin/vite.js build --config clients/dashboard/vite.config.ts --logLevel warn; then
    problem "The dashboard could not be built (see above)."
  fi
}

# The clients import what is generated from the routers, so this runs before they are built.
generate_references() {
  node scripts/generate-docs.ts || problem "The references and the procedures of the clients could not be generated (see above)."
}

build_clients() {
  with_progress "Building the SDK" node scripts/build-sdk.ts || problem "The SDK could not be built (see above)."
  with_progress "Building the command line" node scripts/build-cli.ts ||
    problem "The command line could not be built (see above)."
  with_progress "Building the desktop extension" node scripts/build-extension.ts ||
    problem "The desktop extension could not be built (see above)."
  # Otherwise npx installs this package into its cache to find its command, and warns about the version of Node.
  ln -sf ../../clients/cli/svc.mjs node_modules/.bin/svc
}

# --- The sandbox

# Creates a sandbox like the service does: as root, it first changes to a user without rights.
try_sandbox() {
  set -- bwrap --unshare-user --unshare-all --disable-userns --cap-drop ALL --bind / / --proc /proc --dev /dev true
  if [ "$(id -u)" -eq 0 ]; then
    set -- bwrap --bind / / --bind /proc /proc --dev /dev \
      setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$@"
  fi
  "$@" 2>&1
}

# kernel_setting NAME: prints its value; prints nothing if the kernel does not have it.
kernel_setting() { cat "/proc/sys/$1" 2>/dev/null || true; }

explain_sandbox() {
  if [ "$(kernel_setting kernel/apparmor_restrict_unprivileged_userns)" = 1 ]; then
    say "AppArmor prevents programs from creating user namespaces. To allow them until the next reboot:"
    say "  sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    say "To allow them permanently, write this setting to a file in /etc/sysctl.d, or add an AppArmor profile with 'userns' for bwrap."
  elif [ "$(kernel_setting kernel/unprivileged_userns_clone)" = 0 ]; then
    say "The kernel prevents users from creating namespaces. To allow them until the next reboot:"
    say "  sudo sysctl -w kernel.unprivileged_userns_clone=1"
  elif [ "$(kernel_setting user/max_user_namespaces)" = 0 ]; then
    say "The kernel allows no user namespaces. To allow them until the next reboot:"
    say "  sudo sysctl -w user.max_user_namespaces=15000"
  else
    say "In a container, allow the container to create user namespaces (for Docker:"
    say "--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined)."
  fi
  say "SANDBOX=none runs builds and apps without a sandbox, with your own rights. Use it only for code that you trust."
}

check_sandbox() {
  if ! is_linux; then
    say "The sandbox needs Linux. On this system the service starts only with SANDBOX=none. Use it only for code that you trust."
    return 0
  fi
  has bwrap || return 0
  if ! reason=$(try_sandbox); then
    problem "bubblewrap cannot create a sandbox: $reason"
    explain_sandbox
  fi
}

check_node
check_system
install_npm_packages
link_runtime
check_runtime
link_postgres
create_database_template
check_sandbox
fill_caches
generate_references
build_dashboard
build_clients
build_service

if [ "$problems" -gt 0 ]; then
  say "Setup is incomplete: $problems problem(s), see above." >&2
  exit 1
fi
say "Setup is complete. Next steps:"
say "  npm start    starts the service, and prints its first tokens and a first request"
say "  npm test     runs the tests"
