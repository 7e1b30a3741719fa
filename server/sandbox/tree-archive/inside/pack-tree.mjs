// Runs inside the sandbox. Writes the files of a folder to two archives: the installed packages, which have the same bytes after every
// install of the same versions, and everything else.
//
// With a Node.js, it is a third archive, below a folder that the server has in its PATH.
//
// usage: node pack-tree.mjs <folder> <output folder> <file with packages to leave out, or ""> [<folder with a Node.js> <name of its folder in the archive>]
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { finished } from "node:stream/promises";
import { constants, createZstdCompress } from "node:zlib";

const [root, output, excludedPackages, runtime, runtimeFolder] = process.argv.slice(2);

/** What no server needs: the history, and caches of builds. */
const OMITTED = [
  ".git",
  ".next/cache",
  ".turbo",
  ".nx",
  ".wrangler",
  ".parcel-cache",
  ".svelte-kit/adapter-cloudflare",
];

/** The folders with installed packages that are in no other one, relative to the root. */
function findPackageFolders(folder = ".") {
  const found = [];
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name === ".git") continue;
    const name = path.posix.join(folder, entry.name);
    if (entry.name === "node_modules") found.push(name);
    else found.push(...findPackageFolders(name));
  }
  return found;
}

async function pack(name, tarArguments, paths, folder = root) {
  const list = `${paths.join("\0")}\0`;
  const common = ["--create", "--format=gnu", "--sort=name", "--numeric-owner", "--owner=0", "--group=0"];
  // The server runs as another user, on a copy that disappears with its process.
  common.push("--mode=a+rwX");
  const tar = spawn(
    "tar",
    [...common, `--directory=${folder}`, ...tarArguments, "--null", "--verbatim-files-from", "--files-from=-"],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const exited = once(tar, "exit");
  tar.stdin.end(list);
  const hash = createHash("sha256");
  tar.stdout.on("data", (chunk) => hash.update(chunk));
  const file = path.join(output, `${name}.tar.zst`);
  const level = { [constants.ZSTD_c_compressionLevel]: 1 };
  const written = tar.stdout.pipe(createZstdCompress({ params: level })).pipe(createWriteStream(file));
  await finished(written);
  const [code] = await exited;
  if (code !== 0) process.exit(1);
  return { file: `${name}.tar.zst`, digest: hash.digest("hex"), bytes: statSync(file).size };
}

const packages = findPackageFolders();
const layers = [];
const excluded = [...packages, ...OMITTED.filter((each) => existsSync(path.join(root, each)))];
layers.push(
  await pack("files", ["--anchored", "--no-wildcards", ...excluded.map((each) => `--exclude=./${each}`)], ["."]),
);
// npm's packages have the same time in every install, and those of other package managers the time of the install.
if (packages.length > 0)
  layers.push(
    await pack(
      "packages",
      [
        ...["--mtime=@499162500", "--anchored", "--no-wildcards"],
        ...(excludedPackages === "" ? [] : [`--exclude-from=${excludedPackages}`]),
        ...packages.map((each) => `--exclude=./${each}/.cache`),
      ],
      packages.map((each) => `./${each}`),
    ),
  );
if (runtime !== undefined)
  layers.push(
    await pack("runtime", ["--mtime=@499162500", `--transform=s,^\\./,./${runtimeFolder}/,`], ["./node"], runtime),
  );
writeFileSync(path.join(output, "layers.json"), JSON.stringify(layers));
