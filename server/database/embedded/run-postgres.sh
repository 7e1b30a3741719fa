#!/bin/sh
# Starts a program of the embedded PostgreSQL. For a service that runs as root it changes to another user, because
# PostgreSQL refuses to run as root.
#
# Usage: run-postgres.sh SERVICE_PID PROGRAM ARGUMENT...                          as the service's own user
#        run-postgres.sh SERVICE_PID --as UID MOUNTS NATIVE DATA RUN PROGRAM ...  as UID, in a mount namespace of its own
set -eu

# The kernel ends this process with the service (setpriv --pdeathsig), unless the service ended before that was set.
[ "$PPID" = "$1" ] || exit 1
shift

[ "$1" = --as ] || exec "$@"

uid=$2 mounts=$3 native=$4 data=$5 run=$6
shift 6
# The new user cannot enter folders that only root may enter, so root binds each folder to a place that it can reach.
# /mnt is last, because the folders themselves may be below it.
mount --bind "$native" "$mounts/postgres"
mount --bind "$data" "$mounts/data"
mount --bind "$run" "$mounts/run"
# PostgreSQL looks its user id up.
mount --bind "$mounts/passwd" /etc/passwd
mount --rbind "$mounts" /mnt
# A change of the user id clears the signal that was set before, so it is set again.
exec setpriv --reuid="$uid" --regid="$uid" --clear-groups --no-new-privs --pdeathsig QUIT -- "$@"
