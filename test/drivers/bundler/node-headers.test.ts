import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { correctHeaders } from "../../../server/drivers/bundler/inside/install-scripts/node-headers.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const NODE = path.resolve(import.meta.dirname, `../../../node_modules/node-linux-${process.arch}`);

test("objects of native packages are compiled without the hook with which a garbage collection ends the process", async () => {
  await using folder = await temporaryFolder();
  const target = path.join(folder.path, "corrected");
  expect(correctHeaders(NODE, target)).toBe(target);
  const names = (await readdir(path.join(NODE, "include/node"))).toSorted();
  expect((await readdir(path.join(target, "include/node"))).toSorted()).toEqual(names);
  for (const name of names) expect(existsSync(path.join(target, "include/node", name))).toBe(true);
  const header = (each: string) => readFile(path.join(each, "include/node/node_object_wrap.h"), "utf8");
  const difference = async (of: string, without: string) => {
    const others = new Set((await header(without)).split("\n"));
    return (await header(of)).split("\n").filter((line) => !others.has(line));
  };
  expect(await difference(NODE, target)).toEqual(["    AddCleanupHook();", "    RemoveCleanupHook();"]);
  expect(await difference(target, NODE)).toEqual([]);
});

test.each([
  ["without the hook", { "node_object_wrap.h": "class ObjectWrap {};" }],
  ["without the header", {}],
])("headers %s are used as they are", async (_what, files) => {
  await using folder = await temporaryFolder();
  const headers = path.join(folder.path, "include/node");
  await mkdir(headers, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(headers, name), text);
  expect(correctHeaders(folder.path, path.join(folder.path, "corrected"))).toBe(folder.path);
});
