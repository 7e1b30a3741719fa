import { type BenchRepository, createBenchRepository } from "../support/bench-repository.ts";
import { runCommand } from "../support/run-command.ts";

const CREATE_VITE = "create-vite@9.3.0";

/** The React template of create-vite. Needs the package registry. */
export async function createTemplateRepository(folder: string, signal: AbortSignal): Promise<BenchRepository> {
  const create = ["--yes", CREATE_VITE, "--", "template", "--template", "react-ts", "--no-interactive"];
  await runCommand(["npm", "exec", ...create], { cwd: folder, signal });
  return createBenchRepository(folder, { name: "template", changing: "src/change.ts" }, signal);
}
