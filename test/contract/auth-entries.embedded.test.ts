import { readdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { FilesystemAuthEntries } from "../../server/platforms/embedded/auth-entries.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { authEntriesContract } from "./auth-entries.ts";

authEntriesContract("filesystem", async () => {
  const folder = await temporaryFolder();
  const root = path.join(folder.path, "entries");
  return {
    entries: new FilesystemAuthEntries(root),
    elsewhere: new FilesystemAuthEntries(root),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
});

test("only the user of the service can read the file of an entry", async () => {
  await using folder = await temporaryFolder();
  await new FilesystemAuthEntries(folder.path).put({ appId: "app-1", tokenSha256: "a".repeat(64) });
  const [file] = await readdir(folder.path);
  expect((await stat(path.join(folder.path, String(file)))).mode & 0o777).toBe(0o600);
});

test("an entry from before token rotation is read as an entry without a previous token", async () => {
  await using folder = await temporaryFolder();
  await writeFile(path.join(folder.path, "app-1.json"), JSON.stringify({ tokenSha256: "a".repeat(64) }));
  const entries = new FilesystemAuthEntries(folder.path);
  expect(await entries.get("app-1")).toStrictEqual({ appId: "app-1", tokenSha256: "a".repeat(64) });
});

test("an invalid app id is an error", async () => {
  await using folder = await temporaryFolder();
  const entries = new FilesystemAuthEntries(folder.path);
  for (const appId of ["", "..", "../x", "a/b"])
    await expect(entries.put({ appId, tokenSha256: "" })).rejects.toThrow(TypeError);
});
