import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readResult } from "../../../server/drivers/bundler/read-bundle-result.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const RESULT = { framework: "astro", assets: null, migrations: [{ name: "0001_a.sql", statements: ["SELECT 1"] }] };
const ASSETS = { directory: "dist", leftOut: [], rules: {} };

async function read(result: unknown): Promise<unknown> {
  await using folder = await temporaryFolder();
  const file = path.join(folder.path, "result.json");
  await writeFile(file, JSON.stringify(result));
  return await readResult(file);
}

describe("the result of a bundling, which code of the app can forge,", () => {
  test("is read as it was written", async () => {
    expect(await read(RESULT)).toEqual(RESULT);
  });

  verifies(hazard(47), "is refused when it holds what is no text or has no end", async () => {
    const forged = [
      { ...RESULT, framework: "a\0b" },
      { ...RESULT, framework: "x".repeat(1_000_000) },
      { ...RESULT, migrations: [{ name: "a\n[service] ready", statements: [] }] },
      { ...RESULT, migrations: [{ name: "x".repeat(1_000_000), statements: [] }] },
      { ...RESULT, migrations: Array.from({ length: 1001 }, () => ({ name: "a", statements: [] })) },
      { ...RESULT, assets: { ...ASSETS, rules: { run_worker_first: Array.from({ length: 101 }, () => "/a") } } },
      { ...RESULT, assets: { ...ASSETS, rules: { run_worker_first: ["x".repeat(1025)] } } },
    ];
    for (const result of forged) await expect(read(result)).rejects.toMatchObject({ name: "ZodError" });
  });

  verifies(hazard(49), "names nothing of the host: what is not expected is dropped", async () => {
    const forged = JSON.parse(`{"__proto__": {"scriptPath": "/etc/passwd"}, "scriptPath": "/etc/passwd"}`) as object;
    expect(await read({ ...forged, ...RESULT })).toEqual(RESULT);
  });
});
