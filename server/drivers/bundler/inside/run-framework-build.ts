// Builds a project that has no build script, by its framework's own command.
import { spawnSync } from "node:child_process";
import { buildsStaticFiles, detectFrameworks } from "./detect-frameworks.ts";

const frameworks = await detectFrameworks();
const [framework] = frameworks;
if (framework !== undefined && buildsStaticFiles(frameworks)) {
  console.log(`> ${framework.build.command}`);
  // The command is one of the detection's own list, never the project's text.
  const { status } = spawnSync("/bin/sh", ["-c", framework.build.command], {
    stdio: "inherit",
    env: { ...process.env, PATH: `${process.cwd()}/node_modules/.bin:${process.env["PATH"]}` },
  });
  process.exitCode = status ?? 1;
}
