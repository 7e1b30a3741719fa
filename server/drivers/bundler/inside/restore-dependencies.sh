# Runs inside the sandbox, instead of an install. Extracts the archives of an entry folder. If that fails, removes what was
# extracted, so that an install can follow.
#
# usage: sh restore-dependencies.sh <entry folder> <source folder> <scratch folder> <path in the source>...
set -u
entry=$1 source=$2 scratch=$3
shift 3
# An archive ends with zeros. tar accepts one that was cut off between two files.
is_whole() { [ -s "$1" ] && [ "$(tail -c 1024 "$1" | tr -d '\000' | wc -c)" -eq 0 ]; }
extract() { is_whole "$1" && tar -xpf "$1" --no-same-owner -C "$2"; }
if extract "$entry/source.tar" "$source" && { [ ! -e "$entry/scratch.tar" ] || extract "$entry/scratch.tar" "$scratch"; }; then
  exit 0
fi
cd "$source"
for each; do
  case "$each" in *node_modules) rm -rf "./$each" ;; esac
done
exit 1
