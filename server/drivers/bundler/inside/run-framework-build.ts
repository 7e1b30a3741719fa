// Runs inside the sandbox. Builds a project that has no build script with the build command of its framework.
import { buildsStaticFiles, detectFrameworks } from "./detect-frameworks.ts";
import { runInstalledProgram } from "./run-installed-program.ts";

const frameworks = await detectFrameworks();
const [framework] = frameworks;
// The command is from the fixed list of the framework detection, not from the project.
if (framework !== undefined && buildsStaticFiles(frameworks))
  process.exitCode = runInstalledProgram(framework.build.command);
