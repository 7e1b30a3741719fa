// Runs inside the sandbox. Builds a project that has no build script with the build command of its framework.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { foldersAbove } from "./folders-above.ts";
import { buildsStaticFiles, detectFrameworks } from "./detect-frameworks.ts";

const frameworks = await detectFrameworks();
const [framework] = frameworks;
if (framework !== undefined && buildsStaticFiles(frameworks)) {
  // The root of a workspace has the programs of the packages that its packages share.
  const folders = foldersAbove(process.cwd());
  console.log(`> ${framework.build.command}`);
  // A shell is safe here: the command is from the fixed list of the framework detection, not from the project.
  const [program, option] = folders.some((folder) => existsSync(path.join(folder, ".pnp.cjs")))
    ? ["yarn", "exec"]
    : ["/bin/sh", "-c"];
  const { status } = spawnSync(program, [option, framework.build.command], {
    stdio: "inherit",
    env: {
      ...process.env,
      PATH: [...folders.map((folder) => path.join(folder, "node_modules/.bin")), process.env["PATH"]].join(":"),
    },
  });
  process.exitCode = status ?? 1;
}
