// Runs inside the sandbox. Builds a Next.js app with OpenNext, which runs the build script and turns its output into a script.
import { runInstalledProgram } from "./run-installed-program.ts";

process.exitCode = runInstalledProgram("opennextjs-cloudflare build");
