import { randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ExportMember } from "../../../domain/ports/export-archive.ts";
import { TarExports } from "../../../server/drivers/app-exports/tar-exports.ts";

const CONTENT = randomBytes(512 * 1024);

async function readMembers(archive: AsyncIterable<Uint8Array>): Promise<[string, boolean][]> {
  const members: [string, boolean][] = [];
  for await (const { path, content } of new TarExports().read(archive, Infinity))
    members.push([path, CONTENT.equals(await buffer(content()))]);
  return members;
}

test("members are read as they were packed", async () => {
  async function* content(): AsyncGenerator<Uint8Array> {
    // The memory of a chunk can be used again for the next one.
    const chunk = Buffer.alloc(64 * 1024);
    for (let at = 0; at < CONTENT.length; at += chunk.length) {
      CONTENT.copy(chunk, 0, at);
      yield chunk;
    }
  }
  const members = ["one", "two/three"].map((path): ExportMember => ({ path, size: CONTENT.length, content }));
  expect(await readMembers(new TarExports().pack(members))).toEqual([
    ["one", true],
    ["two/three", true],
  ]);
});

test("a reader that ends while the next chunk of a member is read ends the member, and causes no uncaught error", async () => {
  const { promise: waiting, resolve: wait } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      yield CONTENT;
      wait();
      await released;
      yield CONTENT;
    } finally {
      end();
    }
  }
  const archive = new TarExports().pack([{ path: "one", size: 2 * CONTENT.length, content }]);
  for await (const _ of archive) if (await Promise.race([waiting.then(() => true), setImmediate(false)])) break;
  // Until the streams have told each other.
  for (let turn = 0; turn < 10; turn++) await setImmediate();
  release();
  await ended;
});
