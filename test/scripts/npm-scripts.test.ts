import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const PACKAGE = new URL("../../package.json", import.meta.url);

test.each(["start", "admin"])(
  "npm run %s reads .env if there is one, and prints nothing about a missing one",
  async (name) => {
    const { scripts } = JSON.parse(await readFile(PACKAGE, "utf8")) as { scripts: Record<string, string> };
    await using folder = await temporaryFolder();
    for (const file of ["server/main.ts", "server/admin/admin.ts"]) {
      await mkdir(path.dirname(path.join(folder.path, file)), { recursive: true });
      await writeFile(path.join(folder.path, file), "console.log(process.env.GREETING);");
    }
    const run = async () => {
      const env = { PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin` };
      return promisify(execFile)("sh", ["-c", scripts[name] ?? ""], { cwd: folder.path, env });
    };
    expect(await run()).toEqual({ stdout: "undefined\n", stderr: "" });
    await writeFile(path.join(folder.path, ".env"), "GREETING=hello\n");
    expect(await run()).toEqual({ stdout: "hello\n", stderr: "" });
  },
);
