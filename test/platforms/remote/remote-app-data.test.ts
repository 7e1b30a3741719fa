import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AppDataFile } from "../../../domain/ports/app-data.ts";
import { openRemoteTestEdge, type RemoteEdge } from "../../support/edge/remote-edge.ts";

let edge: RemoteEdge;
beforeAll(async () => {
  edge = await openRemoteTestEdge();
  const bindings = [{ type: "r2_bucket", name: "FILES", bucket_name: "files" }];
  await edge.t.publish("shop", WORKER, { bindings });
  await edge.t.request("shop");
});
afterAll(() => edge[Symbol.asyncDispose]());

const OBJECTS = 30;
const OBJECT_BYTES = 1024 * 1024;
const WORKER = `export default { async fetch(request, { FILES }) {
  if (request.headers.get("user-agent") === "health-check") return new Response();
  for (let n = 0; n < ${OBJECTS}; n++) {
    const content = new Uint8Array(${OBJECT_BYTES}).fill(n);
    await FILES.put("object " + n, content);
  }
  return new Response("stored");
} }`;
const APP = { appId: "app-shop", slug: "shop", databaseId: "db-shop" };
const NEW_APP = { appId: "app-moved", slug: "moved", databaseId: "db-moved", maxDatabaseBytes: 2 ** 30 };
const signal = AbortSignal.timeout(600_000);

const copies = () => readdir(path.join(edge.t.dataDirectory, "app-data-copies"));
const blobs = () => readdir(path.join(edge.t.root, "scripts/moved/app-moved/storage/r2/files/blobs"));

async function* fromList(files: readonly AppDataFile[]): AsyncGenerator<AppDataFile> {
  yield* files;
}

function file(name: string, content: () => AsyncIterable<Uint8Array>, size: number): AppDataFile {
  return { path: name, size, content };
}

async function* chunks(count: number): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) yield Buffer.alloc(65_536, n);
}

test("the files of a copy arrive with their hashes, and the edge removes the copy when it is closed", async () => {
  {
    await using copy = await edge.ports.appData.copy(APP, signal);
    expect(copy).toMatchObject({ runtime: "worker", warnings: [] });
    let values = 0;
    for (const each of copy.files) {
      let bytes = 0;
      for await (const chunk of each.content()) bytes += chunk.length;
      expect(bytes).toBe(each.size);
      if (each.path.includes("/blobs/")) values++;
    }
    expect(values).toBe(OBJECTS);
  }
  await expect.poll(copies).toEqual([]);
});

test("the end of a reader, or of its connection, ends the copy on the edge", async () => {
  const copy = await edge.ports.appData.copy(APP, signal);
  for await (const _ of copy.files[0]?.content() ?? []) break;
  expect(await copies()).toHaveLength(1);
  await copy[Symbol.asyncDispose]();
  await expect.poll(copies).toEqual([]);
  const controller = new AbortController();
  const copying = edge.ports.appData.copy(APP, controller.signal);
  await expect.poll(copies).toHaveLength(1);
  controller.abort();
  await expect(copying).rejects.toThrow("aborted");
  await expect.poll(copies).toEqual([]);
});

test("errors of a copy and of a restoration arrive as they are", async () => {
  await expect(edge.ports.appData.copy(NEW_APP, signal)).rejects.toMatchObject({ code: "conflict" });
  const outside = () => fromList([file("storage/../x", () => chunks(1), 65_536)]);
  await expect(edge.ports.appData.restore(NEW_APP, outside, signal)).rejects.toMatchObject({ code: "invalid" });
  let opened = 0;
  const failing = async function* (): AsyncGenerator<AppDataFile> {
    opened++;
    yield file("storage/r2/files/blobs/a", () => chunks(100), 100 * 65_536);
    throw new TypeError("of the source");
  };
  await expect(edge.ports.appData.restore(NEW_APP, failing, signal)).rejects.toThrow("of the source");
  expect(opened).toBe(1);
  await expect.poll(copies).toEqual([]);
});

test("a restoration whose connection is lost is repeated from the start", async () => {
  let opened = 0;
  const files = async function* (): AsyncGenerator<AppDataFile> {
    opened++;
    yield file("storage/r2/files/blobs/first", () => chunks(10), 10 * 65_536);
    if (opened === 1) {
      await edge.disconnect();
      await edge.listen();
    }
    yield file("storage/r2/files/blobs/second", () => chunks(1), 65_536);
  };
  await edge.ports.appData.restore(NEW_APP, files, signal);
  expect(opened).toBe(2);
  expect((await blobs()).toSorted()).toEqual(["first", "second"]);
  await expect.poll(copies).toEqual([]);
});
