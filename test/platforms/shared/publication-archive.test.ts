import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import type { Script } from "../../../domain/ports/edge-platform.ts";
import { packPublication, unpackPublication } from "../../../server/platforms/shared/publication-archive.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("an edge receives what belongs to a script, with its organization if it is known", async () => {
  await using folder = await temporaryFolder();
  const scriptPath = path.join(folder.path, "sent.form");
  await writeFile(scriptPath, "the form");
  const described = { appId: "app-1", generation: 3, databaseId: "db-1" };
  for (const owner of [{ organizationId: "acme" }, {}]) {
    const sent: Script = { ...described, ...owner, code: { runtime: "worker", scriptPath }, assets: null };
    const { slug, script } = await unpackPublication(packPublication("shop", sent), folder.path);
    const { code, ...received } = script;
    expect([slug, received]).toEqual(["shop", { ...described, ...owner, assets: null }]);
    expect(code.runtime === "worker" && (await readFile(code.scriptPath, "utf8"))).toBe("the form");
  }
});
