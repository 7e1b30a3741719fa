#!/bin/sh
# Prepares the network and mount namespace that this script runs in, then executes its arguments.
set -eu
ip link set lo up
ip address add 93.184.216.34/32 dev lo
mount -t tmpfs tmpfs /etc/ssl
printf '127.0.0.1 localhost\n93.184.216.34 trusted.test unknown.test\n' >/etc/ssl/hosts
mount --bind /etc/ssl/hosts /etc/hosts
exec "$@"
