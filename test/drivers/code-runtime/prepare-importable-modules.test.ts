import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { ImportableModules } from "../../../server/drivers/code-runtime/prepare-importable-modules.ts";
import { openDenoRuntime } from "../../support/procedures/deno-runtime.ts";
import { runProgram } from "../../support/procedures/run-program.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const IMPORT_MAP = path.resolve(import.meta.dirname, "../../../server/drivers/code-runtime/inside/import-map.json");
const deno = await openDenoRuntime();
afterAll(() => deno[Symbol.asyncDispose]());
const run = runProgram.bind(null, deno.runtime);

test("zod and the modules of Node.js that need no permission can be imported offline", async () => {
  const code = `import { z } from "zod";
    import * as mini from "zod/mini";
    import { createHash } from "node:crypto";
    import { Buffer } from "node:buffer";
    console.log(z.object({ n: z.number() }).parse({ n: 1 }).n, mini.parse(mini.string(), "x"));
    console.log(createHash("md5").update(Buffer.from("")).digest("hex"));`;
  expect((await run(code)).stdout).toBe("1 x\nd41d8cd98f00b204e9800998ecf8427e\n");
});

test("all entry points of zod 4 share one instance, and zod 3 can be imported beside them", async () => {
  const { imports } = JSON.parse(await readFile(IMPORT_MAP, "utf8")) as { imports: Record<string, string> };
  const names = Object.keys(imports).filter((name) => name.startsWith("zod"));
  const code = `${names.map((name, at) => `import * as m${at} from "${name}";`).join(" ")}
    const modules = { ${names.map((name, at) => `"${name}": m${at}`).join(", ")} };
    const { "zod": zod, "zod/v3": v3, "zod/v4/core": core, "zod/mini": mini, "zod/locales": locales } = modules;
    console.log(Object.values(modules).every((module) => Object.keys(module).length > 20));
    console.log(zod.default.string().parse("x"), v3.z.string().parse("y"), zod.core.globalRegistry === core.globalRegistry);
    console.log(zod.toJSONSchema(mini.number()).type, modules["zod/v4"].z === zod.z, zod.locales.de === locales.de);
    console.log(zod.object({ a: zod.number() }).safeParse({ a: "b" }).error.issues[0].path, zod.enum(["a"]).options);
    zod.number().parse("no");`;
  const { stdout, stderr, exitCode } = await run(code);
  expect(stdout).toBe(`true\nx y true\nnumber true true\n[ "a" ] [ "a" ]\n`);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("expected number, received string")]);
  expect(stderr).toContain("at main.ts:8:");
  expect(stderr).not.toMatch(/file:|ext:|\/opt|eval/);
});

test("the modules are created once and reused by later processes", async () => {
  await using folder = await temporaryFolder();
  const created = await new ImportableModules(folder.path).prepare();
  const { ino } = await stat(path.join(created, "zod-4.txt"));
  const later = await new ImportableModules(folder.path).prepare();
  expect([later, (await stat(path.join(later, "zod-4.txt"))).ino]).toEqual([created, ino]);
  expect(await readdir(folder.path)).toEqual([path.basename(created)]);
});
