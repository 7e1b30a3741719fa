// Runs inside the sandbox. Builds a project with the command that vercel.json or netlify.toml sets, otherwise with its build
// script, otherwise with the build command of its framework.
//
// usage: node run-framework-build.ts <program that runs scripts>
import { spawnSync } from "node:child_process";
import { buildsStaticFiles, detectFrameworks } from "./detect-frameworks.ts";
import { readHostingSettings } from "./hosting-settings.ts";
import { findBuildScript, hasDependencies, readPackageJson } from "./package-json.ts";
import { runInstalledProgram } from "./run-installed-program.ts";

const [runner = ""] = process.argv.slice(2);
const packageJson = readPackageJson();
const buildScript = findBuildScript(packageJson);
const settings = readHostingSettings();
Object.assign(process.env, settings?.buildVariables);

if (settings !== null && settings.buildCommand !== null) {
  console.log(`Running the build command of ${settings.file}.`);
  process.exitCode = runInstalledProgram(settings.buildCommand);
} else if (buildScript !== undefined) {
  const { status } = spawnSync(runner, ["run", buildScript], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} else if (hasDependencies(packageJson)) {
  const frameworks = await detectFrameworks();
  const [framework] = frameworks;
  // The command is from the fixed list of the framework detection, not from the project.
  if (framework !== undefined && buildsStaticFiles(frameworks))
    process.exitCode = runInstalledProgram(framework.build.command);
}
