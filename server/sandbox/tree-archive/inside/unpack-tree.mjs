// Runs inside the sandbox. Unpacks an archive of `pack-tree.mjs`.
//
// usage: node unpack-tree.mjs <archive> <folder>
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";

const [archive, folder] = process.argv.slice(2);
// With `--ignore-zeros`, tar reads to the end of its input. Otherwise it may exit while the last bytes are written to it.
const tar = spawn(
  "tar",
  ["--extract", "--ignore-zeros", "--no-same-owner", "--preserve-permissions", `--directory=${folder}`, "--file=-"],
  {
    stdio: ["pipe", "inherit", "inherit"],
  },
);
const exited = once(tar, "exit");
await pipeline(createReadStream(archive), createZstdDecompress(), tar.stdin);
const [code] = await exited;
process.exitCode = code === 0 ? 0 : 1;
