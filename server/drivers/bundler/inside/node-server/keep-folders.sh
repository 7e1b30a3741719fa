# Runs in the sandbox of a Node server before its command, in the folder of the project. Replaces folders by links to folders in
# /data/volumes, which stay. After `--`, only those that an earlier deployment has kept: what is new in them is added.
#
# usage: sh keep-folders.sh <name>=<folder>... [-- <name>=<folder>...]
set -eu
is_filled=false
for each do
  if [ "$each" = -- ]; then
    is_filled=true
    continue
  fi
  kept=/data/volumes/${each%%=*}
  folder=${each#*=}
  [ ! -L "$folder" ] || continue
  if [ -d "$kept" ]; then
    [ "$is_filled" = false ] || cp -Rn "$folder/." "$kept/"
  else
    [ "$is_filled" = false ] || continue
    mkdir -p "$kept"
  fi
  rm -rf "$folder"
  mkdir -p "$(dirname "$folder")"
  ln -s "$kept" "$folder"
done
