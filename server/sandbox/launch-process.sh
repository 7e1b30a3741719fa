#!/bin/sh
# Starts a process in the sandbox that process-launcher.ts prepared: executes the command line in $LAUNCH_FOLDER/command-line
# (one argument per line), followed by its own arguments.
set -euC

# Noclobber (-C) makes this fail if the file exists: a launch folder starts one process.
if ! echo "$$" 2>/dev/null >"${LAUNCH_FOLDER:?is not set: this process may only be started through a ProcessLauncher}/pid"; then
  exit 75
fi

given=$#
while IFS= read -r argument; do set -- "$@" "$argument"; done <"$LAUNCH_FOLDER/command-line"
while [ "$given" -gt 0 ]; do
  set -- "$@" "$1"
  shift
  given=$((given - 1))
done
filter=$LAUNCH_FOLDER/system-call-filter
if [ -e "$filter" ]; then exec 9<"$filter"; fi
exec "$@"
