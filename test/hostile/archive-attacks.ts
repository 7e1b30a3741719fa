import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { createGzip } from "node:zlib";
import { pipeline, Readable } from "node:stream";
import { SandboxedArchives } from "../../server/drivers/archive-source/sandboxed-archives.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { type GivenEntry, inChunks, tarOf } from "../support/archives.ts";
import type { Attack, AttackEnvironment, AttackResult } from "./attack.ts";

const MODULES = path.join(import.meta.dirname, "../../node_modules");
const MEBIBYTE = 1024 * 1024;
const BLOCK_BYTES = 512;
const SECRET = "of the host";

/** Makes the archives of an attack. Each is unpacked by itself. */
type MakeArchives = (target: string) => AsyncIterable<Uint8Array>[] | Promise<AsyncIterable<Uint8Array>[]>;

/** Entries that would read, change or create a file outside, each after those that prepare it. */
function leadOut(target: string): GivenEntry[][] {
  const folder = path.dirname(target);
  const up = `${"../".repeat(12)}${target.slice(1)}`;
  return [
    [{ name: target, text: "changed" }],
    [{ name: up, text: "changed" }],
    [{ name: `a/${up}`, text: "changed" }],
    [{ name: "copy", type: "link", linkname: target }],
    [{ name: "copy", type: "link", linkname: up }],
    [
      { name: "out", type: "symlink", linkname: folder },
      { name: `out/${path.basename(target)}`, text: "changed" },
    ],
    [
      { name: "a/b/up", type: "symlink", linkname: "../.." },
      { name: "a/b/out", type: "symlink", linkname: "up/../../.." },
    ],
    [
      { name: "file", type: "symlink", linkname: target },
      { name: "file", text: "changed" },
    ],
    [
      { name: "a/x", text: "x" },
      { name: "a", type: "symlink", linkname: folder },
      { name: `a/${path.basename(target)}`, text: "changed" },
    ],
    [{ name: "sda", type: "block-device", devmajor: 8, devminor: 0 }],
    [{ name: "mem", type: "character-device", devmajor: 1, devminor: 1 }],
    [{ name: "pipe", type: "fifo" }],
  ];
}

async function header(entry: GivenEntry): Promise<Buffer> {
  return (await tarOf([entry])).subarray(0, BLOCK_BYTES);
}

/** Repeats a block so often that it would have `bytes`, compressed. */
function compressed(start: Buffer, block: Buffer, bytes: number): AsyncIterable<Uint8Array> {
  const chunk = Buffer.alloc(Math.ceil(MEBIBYTE / block.length) * block.length, block);
  function* blocks() {
    yield start;
    for (let written = 0; written < bytes; written += chunk.length) yield chunk;
  }
  return pipeline(Readable.from(blocks()), createGzip({ level: 1 }), () => undefined);
}

const ARCHIVES: Readonly<Record<string, MakeArchives>> = {
  "Entries of archives that lead out": (target) =>
    Promise.all(leadOut(target).map(async (entries) => inChunks(await tarOf(entries)))),
  "An archive that unpacks to 2 GiB of zeros": () => [
    compressed(Buffer.alloc(0), Buffer.alloc(BLOCK_BYTES), 2048 * MEBIBYTE),
  ],
  "An archive of a file that unpacks to 1 GiB": async () => [
    compressed(await header({ name: "zeros", size: 90 * MEBIBYTE }), Buffer.alloc(BLOCK_BYTES), 1024 * MEBIBYTE),
  ],
  "An archive with a million entries": async () => [
    compressed(Buffer.alloc(0), await header({ name: "d/", type: "directory" }), 1_000_000 * BLOCK_BYTES),
  ],
  "An archive with a path of 200 MiB": async () => {
    const long = await header({ name: "x", size: 0 });
    // The type of an extended header, whose checksum changes with it.
    long.write("x", 156);
    long.write((200 * MEBIBYTE).toString(8).padStart(11, "0"), 124);
    long.fill(" ", 148, 156);
    const sum = long.reduce((all, byte) => all + byte, 0);
    long.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [compressed(long, Buffer.alloc(BLOCK_BYTES, "n"), 300 * MEBIBYTE)];
  },
};

async function attack({ groups, folder }: AttackEnvironment, make: MakeArchives): Promise<AttackResult> {
  const target = path.join(folder, "outside", "secret.txt");
  await mkdir(path.dirname(target));
  await writeFile(target, SECRET, { mode: 0o666 });
  const source = await SandboxedArchives.open({
    sandbox: new BubblewrapSandbox({ groups }),
    folder: path.join(folder, "archive-checks"),
    modulesDirectory: MODULES,
  });
  const problems = new Set<string>();
  for (const [number, archive] of (await make(target)).entries()) {
    const directory = path.join(folder, `source-${number}`);
    const { signal } = new AbortController();
    const unpacked = source.unpack({ archive, directory, onOutput: () => undefined, signal });
    problems.add(
      await unpacked.then(
        () => "unpacked",
        (error: Error) => error.message,
      ),
    );
  }
  const isIntact = (await readFile(target, "utf8")) === SECRET && (await readdir(path.dirname(target))).length === 1;
  const isContained = isIntact && !problems.has("unpacked");
  const [first = ""] = problems;
  const text = problems.size === 1 ? first : `${problems.size} reasons, such as: ${first}`;
  return { isContained, text: isIntact ? text : `changed a file outside; ${text}` };
}

/** What is in an archive that a client uploads. */
export const ARCHIVE_ATTACKS: readonly Attack[] = Object.entries(ARCHIVES).map(([name, make]) => ({
  name,
  through: "build",
  run: (environment) => attack(environment, make),
}));
