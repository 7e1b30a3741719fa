#!/bin/bash
# In place of systemd, which no container has: runs the ExecStart of a unit with its environment. MACHINE is a folder of the machine.
set -eu
unit_file() {
  for folder in /etc/systemd/system /usr/lib/systemd/system; do
    if [ -f "$folder/$1.service" ]; then echo "$folder/$1.service"; return; fi
  done
  echo "Unit $1.service not found" >&2
  exit 5
}
value() { sed -n "s/^$2=//p" "$(unit_file "$1")"; }
running() { [ -f "$MACHINE/$1.pid" ] && kill -0 "$(cat "$MACHINE/$1.pid")" 2>/dev/null; }
start() {
  if running "$1"; then return; fi
  folder=$(value "$1" WorkingDirectory)
  for state in $(value "$1" StateDirectory); do mkdir -p -m 700 "/var/lib/$state"; done
  (
    cd "${folder:-/}"
    set -a
    for line in $(value "$1" Environment); do eval "$line"; done
    for file in $(value "$1" EnvironmentFile); do . "$file"; done
    set +a
    # shellcheck disable=SC2086,SC2046
    exec setsid $(value "$1" ExecStart) >>"$MACHINE/$1.log" 2>&1 <&-
  ) &
  echo $! >"$MACHINE/$1.pid"
}
stop() {
  if ! running "$1"; then return; fi
  kill -TERM "$(cat "$MACHINE/$1.pid")"
  for _ in $(seq 450); do
    if ! running "$1"; then return; fi
    sleep 0.1
  done
  kill -KILL "$(cat "$MACHINE/$1.pid")"
}
command=$1
shift
if [ "${1:-}" = --now ]; then shift; fi
case $command in
  daemon-reload) ;;
  enable | start) start "$1" ;;
  disable | stop) stop "$1" ;;
  restart) stop "$1"; start "$1" ;;
  reload) eval "$(value "$1" ExecReload)" ;;
  *) echo "unknown command: $command" >&2; exit 1 ;;
esac
