import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { linkNativePrograms } from "../../../server/drivers/bundler/inside/install-scripts/pnpm-programs.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const NATIVE = Buffer.from("7f454c46", "hex");

test.each([
  ["up to 11", `"$basedir/../tool/bin/tool"`, `"$basedir/../other/bin/tool"`],
  ["12", `"$basedir_abs"/'../tool/bin/tool'`, `"$basedir_abs"/'../other/bin/tool'`],
])("a program that an install script replaced runs without Node.js: pnpm %s", async (_version, own, other) => {
  await using root = await temporaryFolder();
  const modules = path.join(root.path, "node_modules");
  for (const name of ["tool", "other"]) {
    await mkdir(path.join(modules, name, "bin"), { recursive: true });
    await writeFile(path.join(modules, name, "bin/tool"), name === "tool" ? NATIVE : "console.log(1)");
  }
  await mkdir(path.join(modules, ".bin"));
  const script = path.join(modules, ".bin/tool");
  await writeFile(script, `exec "$basedir/node"  ${own} "$@"\nexec node  ${own} "$@"\nexec node  ${other} "$@"\n`);
  linkNativePrograms(path.join(modules, "tool"), { name: "tool", bin: { tool: "bin/tool" } }, [root.path]);
  expect(await readFile(script, "utf8")).toBe(`exec ${own} "$@"\nexec ${own} "$@"\nexec node  ${other} "$@"\n`);
});
