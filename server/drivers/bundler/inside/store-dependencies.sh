# Runs inside the sandbox, directly after an install. Writes what the install created to archives in the entry folder.
#
# usage: sh store-dependencies.sh <entry folder> <source folder> <scratch folder> <path in the source>...
set -eu
entry=$1 source=$2 scratch=$3
shift 3
cd "$source"
for each; do
  shift
  if [ -e "$each" ]; then set -- "$@" "./$each"; fi
done
tar -cf "$entry/source.tar" "$@"
cd "$scratch"
set --
# A downloaded version of pnpm, Yarn, Bun or Node.js, and the packages of Yarn's Plug'n'Play.
for each in tools yarn node; do
  if [ -e "$each" ]; then set -- "$@" "$each"; fi
done
if [ $# -gt 0 ]; then tar -cf "$entry/scratch.tar" "$@"; fi
