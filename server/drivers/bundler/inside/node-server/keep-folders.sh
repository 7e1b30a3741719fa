# Runs in the sandbox of a Node server before its command, in the folder of the project. Replaces folders by links to folders in
# /data, which stays. The first time, what was deployed is copied there.
#
# usage: sh keep-folders.sh <folder>...
set -eu
for folder do
  [ ! -L "$folder" ] || continue
  # A folder above the project has the same name as one in it.
  kept=/data/volumes/${folder##*../}
  if [ ! -d "$kept" ]; then
    rm -rf "$kept.new"
    mkdir -p "$kept.new"
    [ ! -d "$folder" ] || cp -R "$folder/." "$kept.new"
    mv -T "$kept.new" "$kept"
  fi
  rm -rf "$folder"
  mkdir -p "$(dirname "$folder")"
  ln -s "$kept" "$folder"
done
