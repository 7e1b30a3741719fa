import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { FilesystemObjectStore } from "../../server/drivers/object-store/filesystem.ts";
import { S3ObjectStore } from "../../server/drivers/object-store/s3.ts";
import { startDiskS3 } from "../support/object-store/disk-s3.ts";
import { type S3Server, startFauxqsS3, startMiniflareS3 } from "../support/object-store/s3-servers.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { objectStoreContract } from "./object-store.ts";

objectStoreContract("file system", async () => {
  const folder = await temporaryFolder();
  const store = new FilesystemObjectStore(join(folder.path, "objects"));
  return { store, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
});

const SERVERS = {
  "S3, R2's endpoint": startMiniflareS3,
  "S3, another server": startFauxqsS3,
  "S3, a server with files": startDiskS3InFolder,
};
const servers = new Map<string, S3Server>();
beforeAll(async () => {
  for (const [name, start] of Object.entries(SERVERS)) servers.set(name, await start());
});
afterAll(async () => {
  for (const server of servers.values()) await server[Symbol.asyncDispose]();
});

for (const name of Object.keys(SERVERS))
  objectStoreContract(name, async () => {
    const { settings } = servers.get(name)!;
    // A bucket for all tests, as for several installations.
    const store = await S3ObjectStore.open({ ...settings, prefix: `${randomUUID()}/` });
    return { store, [Symbol.asyncDispose]: async () => store[Symbol.dispose]() };
  });

async function startDiskS3InFolder(): Promise<S3Server> {
  const folder = await temporaryFolder();
  const server = await startDiskS3(folder.path);
  return {
    settings: server.settings,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
