// Runs inside the sandbox. Builds a project that has no build script with the build command of its framework.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { buildsStaticFiles, detectFrameworks } from "./detect-frameworks.ts";

const frameworks = await detectFrameworks();
const [framework] = frameworks;
if (framework !== undefined && buildsStaticFiles(frameworks)) {
  console.log(`> ${framework.build.command}`);
  // A shell is safe here: the command is from the fixed list of the framework detection, not from the project.
  const [program, option] = existsSync(".pnp.cjs") ? ["yarn", "exec"] : ["/bin/sh", "-c"];
  const { status } = spawnSync(program, [option, framework.build.command], {
    stdio: "inherit",
    env: { ...process.env, PATH: `${process.cwd()}/node_modules/.bin:${process.env["PATH"]}` },
  });
  process.exitCode = status ?? 1;
}
