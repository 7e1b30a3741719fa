import { execFile } from "node:child_process";
import { lstat, mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { ArchiveSource } from "../../domain/ports/archive-source.ts";
import type { ArchiveLimits } from "../../server/drivers/archive-source/inside/archive-report.ts";
import { type GivenEntry, inChunks, tarOf, tarOfFiles } from "../support/archives.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const run = promisify(execFile);
const MEBIBYTE = 1024 * 1024;

export interface ArchiveSetting extends AsyncDisposable {
  source: ArchiveSource;
}

export type OpenArchiveSetting = (limits?: Partial<ArchiveLimits>) => Promise<ArchiveSetting>;

/** The contract of every `ArchiveSource`. */
export function archiveSourceContract(kind: string, open: OpenArchiveSetting): void {
  /** Unpacks an archive, and also inspects it: both must come to the same result. */
  async function unpack(archive: Uint8Array, limits: Partial<ArchiveLimits> = {}) {
    await using setting = await open(limits);
    const folder = await temporaryFolder();
    const directory = join(folder.path, "source");
    await mkdir(directory);
    const inspected = await setting.source.inspect(inChunks(archive));
    const output: Uint8Array[] = [];
    const { signal } = new AbortController();
    const unpacking = setting.source.unpack({
      archive: inChunks(archive),
      directory,
      onOutput: (chunk) => void output.push(chunk),
      signal,
    });
    const outcome = await unpacking.then(
      (warnings) => ({ warnings, problem: null }),
      (error: Error) => ({ warnings: [], problem: error.message }),
    );
    expect(outcome.problem).toBe("problem" in inspected ? inspected.problem : null);
    return {
      ...outcome,
      inspected,
      directory,
      log: Buffer.concat(output).toString(),
      around: await readdir(folder.path),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  }

  async function problemOf(archive: Uint8Array, limits: Partial<ArchiveLimits> = {}): Promise<string | null> {
    await using result = await unpack(archive, limits);
    return result.problem;
  }

  describe(`an archive source (${kind})`, () => {
    const files = { "package.json": "{}", "src/index.ts": "export {};\n", "größe/naïve.txt": "ü" };
    const compressions = { plain: (tar: Buffer) => tar, gzip: gzipSync, Zstandard: zstdCompressSync };

    for (const [compression, compress] of Object.entries(compressions))
      test(`an archive (${compression}) becomes its files, and nothing else is left`, async () => {
        await using result = await unpack(compress(await tarOfFiles(files)));
        expect(result.inspected).toEqual({ fileCount: 3, bytes: 15 });
        expect(result.problem).toBeNull();
        expect(await filesIn(result.directory)).toEqual(Object.keys(files).toSorted());
        expect(await readFile(join(result.directory, "größe/naïve.txt"), "utf8")).toBe("ü");
        expect(result.around).toEqual(["source"]);
        expect(result.log).toBe("Unpacked 3 files, 15 bytes\n");
      });

    test("an archive of GNU tar keeps long paths, links inside, and executable bits without setuid", async () => {
      await using temporary = await temporaryFolder();
      const folder = { path: join(temporary.path, "app") };
      const long = `${"folder".repeat(20)}/${"name".repeat(40)}.txt`;
      await mkdir(join(folder.path, "folder".repeat(20)), { recursive: true });
      await writeFile(join(folder.path, long), "long");
      await writeFile(join(folder.path, "run.sh"), "#!/bin/sh\n");
      await run("chmod", ["6755", "run.sh"], { cwd: folder.path });
      await run("ln", ["-s", "run.sh", "start"], { cwd: folder.path });
      const packed = join(temporary.path, "packed.tgz");
      await run("tar", ["-czf", packed, "."], { cwd: folder.path });
      await using result = await unpack(await readFile(packed));
      expect(result.problem).toBeNull();
      expect(await readFile(join(result.directory, long), "utf8")).toBe("long");
      expect((await lstat(join(result.directory, "run.sh"))).mode & 0o7777).toBe(0o755);
      expect(await readlink(join(result.directory, "start"))).toBe("run.sh");
    });

    test("texts that are packed can be unpacked, and always become the same bytes", async () => {
      await using setting = await open();
      const first = await buffer(setting.source.pack(files));
      const again = await buffer(setting.source.pack(Object.fromEntries(Object.entries(files).toReversed())));
      expect(again.equals(first)).toBe(true);
      await using result = await unpack(first);
      expect(await readFile(join(result.directory, "src/index.ts"), "utf8")).toBe("export {};\n");
    });

    test("a folder .git is left out, with a warning", async () => {
      await using result = await unpack(
        await tarOfFiles({ "a.txt": "a", ".git/config": "x", "lib/.GIT/hooks/x": "x" }),
      );
      expect(await filesIn(result.directory)).toEqual(["a.txt"]);
      expect(result.warnings).toEqual(["The folder .git of the archive is left out."]);
    });

    const hostile: Readonly<Record<string, [entries: GivenEntry[], problem: string]>> = {
      "an absolute path": [[{ name: "/etc/passwd", text: "x" }], '"/etc/passwd" has an absolute path.'],
      "a path with ..": [[{ name: "a/../../x", text: "x" }], '"a/../../x" has a path with `..`.'],
      "a hard link": [[{ name: "a" }, { name: "b", type: "link", linkname: "a" }], '"b" is a hard link.'],
      "a hard link to a file outside": [[{ name: "b", type: "link", linkname: "/etc/shadow" }], '"b" is a hard link.'],
      "a character device": [
        [{ name: "null", type: "character-device", devmajor: 1, devminor: 3 }],
        '"null" is neither',
      ],
      "a block device": [[{ name: "sda", type: "block-device", devmajor: 8 }], '"sda" is neither a file'],
      "a named pipe": [[{ name: "pipe", type: "fifo" }], '"pipe" is neither a file'],
      "an absolute link": [[{ name: "l", type: "symlink", linkname: "/etc" }], '"l" is a symbolic link that may lead'],
      "a link that leads out": [
        [{ name: "a/l", type: "symlink", linkname: "../../x" }],
        '"a/l" is a symbolic link that',
      ],
      "a link to the root": [[{ name: "l", type: "symlink", linkname: "." }], '"l" is a symbolic link that may lead'],
      "a link that leads out through another link": [
        [
          { name: "a/b/up", type: "symlink", linkname: "../../a/b" },
          { name: "a/b/out", type: "symlink", linkname: "up/../../.." },
        ],
        '"a/b/out" is a symbolic link that may lead out',
      ],
      "a file below a link": [
        [
          { name: "l", type: "symlink", linkname: "a" },
          { name: "l/x", text: "x" },
        ],
        '"l/x" is below a file or a symbolic link',
      ],
      "a link in the place of a folder": [
        [
          { name: "l/x", text: "x" },
          { name: "l", type: "symlink", linkname: "a" },
        ],
        '"l" is in the archive twice.',
      ],
      "a file twice": [[{ name: "a" }, { name: "./a" }], '"./a" is in the archive twice.'],
      "a file in the place of a link": [
        [{ name: "l", type: "symlink", linkname: "a" }, { name: "l" }],
        '"l" is in the',
      ],
      "a file below a file": [[{ name: "a" }, { name: "a/b" }], '"a/b" is below a file or a symbolic link'],
      "a path with a line break": [[{ name: "a\nfake: line" }], '"a fake: line" has a path with control characters.'],
      "a path with an escape sequence": [[{ name: "a\u001b[31mred" }], '"ared" has a path with control characters.'],
      "no files": [[{ name: "a", type: "directory" }], "The archive contains no files."],
    };
    for (const [what, [entries, problem]] of Object.entries(hostile))
      test(`an archive with ${what} is refused, and the error names the entry`, async () => {
        expect(await problemOf(await tarOf(entries))).toContain(problem);
      });

    const damaged: Readonly<Record<string, [make: () => Promise<Buffer>, problem: string]>> = {
      "an empty file": [async () => Buffer.alloc(0), "The archive contains no files."],
      "a short text": [async () => Buffer.from("hello"), "The archive is not a tar archive"],
      "a long text": [async () => Buffer.alloc(100_000, "hello "), "The archive is not a tar archive"],
      "a zip archive": [async () => Buffer.from("PK\u0003\u0004 and more"), "The archive is a zip archive."],
      "a compressed text": [async () => gzipSync(Buffer.alloc(5000, "text ")), "The archive is not a tar archive"],
      bzip2: [async () => Buffer.concat([Buffer.from("BZh91AY&SY"), Buffer.alloc(600, 7)]), "is not a tar archive"],
      "a truncated gzip": [async () => gzipSync(await randomTar()).subarray(0, 9000), "The archive is incomplete."],
      "a truncated Zstandard": [
        async () => zstdCompressSync(await randomTar()).subarray(0, 9000),
        "The archive is incomplete.",
      ],
      "a tar that ends in a file": [async () => (await randomTar()).subarray(0, 9000), "The archive is incomplete."],
      "a tar that ends between two files": [
        async () => (await tarOfFiles({ a: "a", b: "b" })).subarray(0, 1024),
        "The archive is incomplete.",
      ],
      "a damaged gzip": [async () => flip(gzipSync(await randomTar()), 5000), "The archive is damaged."],
      "a damaged header": [async () => flip(await tarOfFiles({ a: "a", b: "b" }), 1100), "is not a tar archive"],
    };
    for (const [what, [make, problem]] of Object.entries(damaged))
      test(`${what} is refused`, async () => {
        expect(await problemOf(await make())).toContain(problem);
      });

    test("limits of size, count, path and depth are enforced", async () => {
      const limits = {
        totalBytes: 2 * MEBIBYTE,
        fileBytes: MEBIBYTE,
        files: 10,
        pathBytes: 60,
        pathDepth: 4,
        nameBytes: 20,
      };
      const text = (bytes: number) => "x".repeat(bytes);
      const problems: [GivenEntry[], string][] = [
        [[{ name: "big", text: text(MEBIBYTE + 1) }], '"big" is larger than 1 MiB.'],
        [["a", "b", "c"].map((name) => ({ name, text: text(MEBIBYTE) })), "The archive unpacks to more than 2 MiB."],
        [Array.from({ length: 11 }, (_, at) => ({ name: `f${at}` })), "contains more than 10 files and folders."],
        [["a", "b", "c", "d"].map((name) => ({ name: `${name}/1/2/f` })), "contains more than 10 files and folders."],
        [[{ name: "a/b/c/d/e" }], '"a/b/c/d/e" has a path with more than 4 nested folders.'],
        [[{ name: "n".repeat(21) }], "has a name longer than 20 bytes."],
        [[{ name: Array.from({ length: 4 }, () => "n".repeat(20)).join("/") }], "has a path longer than 60 bytes."],
      ];
      for (const [entries, problem] of problems)
        expect(await problemOf(await tarOf(entries), limits)).toContain(problem);
    });

    test("an archive that unpacks to much more than its size is refused before it is unpacked", async () => {
      const bomb = gzipSync(await tarOf([{ name: "zeros", text: new Uint8Array(64 * MEBIBYTE) }]));
      expect(bomb.length).toBeLessThan(MEBIBYTE / 8);
      const limits = { totalBytes: 16 * MEBIBYTE, fileBytes: 16 * MEBIBYTE };
      expect(await problemOf(bomb, limits)).toBe('"zeros" is larger than 16 MiB.');
      // Empty blocks, which are not the content of any entry.
      const empty = gzipSync(new Uint8Array(64 * MEBIBYTE));
      expect(await problemOf(empty, { totalBytes: 16 * MEBIBYTE, files: 100 })).toBe(
        "The archive unpacks to more than 16 MiB.",
      );
    });

    test("an archive with a huge number of entries is refused", async () => {
      const [file] = [await tarOfFiles({ a: "" })];
      const header = file?.subarray(0, 512) ?? Buffer.alloc(0);
      const many = gzipSync(Buffer.concat(Array.from({ length: 60_000 }, () => header)));
      // Also if all of them are in a folder that is left out.
      const git = (await tarOfFiles({ ".git/x": "" })).subarray(0, 512);
      const ignored = gzipSync(Buffer.concat(Array.from({ length: 60_000 }, () => git)));
      expect(await problemOf(many)).toBe('"a" is in the archive twice.');
      expect(await problemOf(ignored)).toBe("The archive contains more than 50,000 files and folders.");
    });

    test("a header that claims a huge path is refused", async () => {
      const tar = await tarOf([{ name: `${"n".repeat(200)}/`.repeat(1000), text: "x" }]);
      expect(await problemOf(tar)).toMatch(/has a path longer than 1,024 bytes\.$/);
    });
  });
}

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .toSorted();
}

/** An archive that does not become smaller by compression. */
function randomTar(): Promise<Buffer> {
  const bytes = new Uint8Array(32_768);
  crypto.getRandomValues(bytes);
  return tarOf([{ name: "random", text: bytes }]);
}

function flip(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}
