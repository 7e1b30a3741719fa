#!/bin/sh
# Starts one workerd in its sandbox. Miniflare runs this instead of the workerd binary; what to run and what it may see
# comes in EDGE_* variables, all of them paths and numbers that the driver chose. The script runs twice: first to note
# its pid and shed the environment, then (for root: in a private mount namespace) to build the sandbox.
set -eu

# Another user of Miniflare in the same service gets the plain binary.
[ -n "${EDGE_RUN:-}" ] || exec "$EDGE_WORKERD" "$@"

if [ "${EDGE_STAGE:-1}" = 1 ]; then
  # Noclobber makes this fail when the file exists: one runtime folder starts one process, so Miniflare's own respawn of
  # a crashed workerd, which has no back-off, ends here and the supervisor decides. Miniflare waits for its configuration
  # to be read, also by a process that ends.
  set -C
  if ! echo "$$" 2>/dev/null >"$EDGE_RUN/pid"; then
    cat >/dev/null
    exit 75
  fi
  set +C
  ulimit -c 0
  set -- "$0" "$@"
  [ -z "$EDGE_UID" ] || set -- unshare --mount --propagation private -- "$@"
  # bwrap --clearenv would leave the service's environment readable in /proc/1/environ of the sandbox; env -i does not.
  exec env -i PATH="$PATH" TZ=UTC EDGE_STAGE=2 EDGE_RUN="$EDGE_RUN" EDGE_WORKERD="$EDGE_WORKERD" EDGE_UID="$EDGE_UID" \
    EDGE_SANDBOX="$EDGE_SANDBOX" EDGE_DATA_BYTES="$EDGE_DATA_BYTES" EDGE_STORAGE="$EDGE_STORAGE" \
    EDGE_DATABASE="$EDGE_DATABASE" EDGE_ASSETS="$EDGE_ASSETS" "$@"
fi

if [ "$EDGE_SANDBOX" = none ]; then
  ! command -v setpriv >/dev/null || exec setpriv --pdeathsig KILL -- env -i TZ=UTC "$EDGE_WORKERD" "$@"
  exec env -i TZ=UTC "$EDGE_WORKERD" "$@"
fi

workerd=$EDGE_WORKERD storage=$EDGE_STORAGE database=$EDGE_DATABASE assets=$EDGE_ASSETS
if [ -n "$EDGE_UID" ]; then
  # The sandbox's own user cannot walk to folders that only root may enter, so root binds them to a place it can reach.
  # /mnt goes last, because the folders themselves may lie below it.
  mount --bind "$workerd" "$EDGE_RUN/workerd"
  mount --bind "$storage" "$EDGE_RUN/storage"
  mount --bind "$database" "$EDGE_RUN/database"
  [ -z "$assets" ] || mount --bind "$assets" "$EDGE_RUN/assets"
  mount --rbind "$EDGE_RUN" /mnt
  workerd=/mnt/workerd storage=/mnt/storage database=/mnt/database assets=${assets:+/mnt/assets}
fi

set -- /workerd "$@"
[ -z "$assets" ] || set -- --ro-bind "$assets" "$EDGE_ASSETS" -- "$@"
[ -n "$assets" ] || set -- -- "$@"
# With its own init, bwrap would leave a zombie to the init of the host at every end; --as-pid-1 goes without one.
set -- bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup --disable-userns \
  --as-pid-1 --die-with-parent --new-session --cap-drop ALL --clearenv --setenv TZ UTC --chdir / \
  --ro-bind /lib /lib --ro-bind-try /lib64 /lib64 --ro-bind-try /usr/lib /usr/lib --ro-bind-try /usr/lib64 /usr/lib64 \
  --ro-bind-try /etc/ssl /etc/ssl --ro-bind-try /etc/pki /etc/pki --ro-bind-try /etc/resolv.conf /etc/resolv.conf \
  --ro-bind-try /etc/nsswitch.conf /etc/nsswitch.conf --ro-bind-try /etc/hosts /etc/hosts \
  --proc /proc --dev /dev --size 67108864 --tmpfs /tmp \
  --ro-bind "$workerd" /workerd --bind "$storage" "$EDGE_STORAGE" --bind "$database" "$EDGE_DATABASE" "$@"
if [ -n "$EDGE_UID" ]; then
  # Counted per user, so only where the user is this app's alone.
  set -- prlimit --nproc=256 -- setpriv --reuid="$EDGE_UID" --regid="$EDGE_UID" --clear-groups --no-new-privs -- "$@"
fi
exec prlimit --data="$EDGE_DATA_BYTES" --nofile=4096:4096 -- "$@"
