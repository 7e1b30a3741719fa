import { writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readBundleResult } from "../../../server/drivers/bundler/read-bundle-result.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const RESULT = {
  framework: "astro",
  assets: null,
  migrations: [{ name: "0001_a.sql", statements: ["SELECT 1"] }],
  warnings: [],
};
const ASSETS = { directory: "dist", ignored: [], rules: {} };

async function writeAndRead(result: unknown): Promise<unknown> {
  await using folder = await temporaryFolder();
  const file = path.join(folder.path, "result.json");
  await writeFile(file, JSON.stringify(result));
  return await readBundleResult(file);
}

// Code of the app can write this file instead of the bundler.
describe("the result file of the bundle step", () => {
  test("a valid result file is read unchanged", async () => {
    expect(await writeAndRead(RESULT)).toEqual(RESULT);
  });

  verifies(hazard(47), "a result with control characters or with values above the limits is refused", async () => {
    const forged = [
      { ...RESULT, framework: "a\0b" },
      { ...RESULT, framework: "x".repeat(1_000_000) },
      { ...RESULT, migrations: [{ name: "a\n[service] ready", statements: [] }] },
      { ...RESULT, migrations: [{ name: "x".repeat(1_000_000), statements: [] }] },
      { ...RESULT, migrations: Array.from({ length: 1001 }, () => ({ name: "a", statements: [] })) },
      { ...RESULT, assets: { ...ASSETS, rules: { run_worker_first: Array.from({ length: 101 }, () => "/a") } } },
      { ...RESULT, assets: { ...ASSETS, rules: { run_worker_first: ["x".repeat(1025)] } } },
    ];
    for (const result of forged) await expect(writeAndRead(result)).rejects.toMatchObject({ name: "ZodError" });
  });

  verifies(hazard(49), "unknown fields of a result are dropped, so it cannot name files of the host", async () => {
    const forged = JSON.parse(`{"__proto__": {"scriptPath": "/etc/passwd"}, "scriptPath": "/etc/passwd"}`) as object;
    expect(await writeAndRead({ ...forged, ...RESULT })).toEqual(RESULT);
  });
});
