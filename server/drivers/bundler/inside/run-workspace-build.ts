// Runs inside the sandbox, at the root of the source. Runs the build script of several packages of a workspace, one after
// the other, and stops at the first that fails.
//
// usage: node run-workspace-build.ts <program> <folder>...
import { spawnSync } from "node:child_process";

const [program = "", ...folders] = process.argv.slice(2);
for (const cwd of folders) {
  console.log(`> building ${cwd}`);
  const { status } = spawnSync(program, ["run", "build"], { cwd, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
