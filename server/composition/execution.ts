import path from "node:path";
import type { CodeRuntime } from "../../domain/ports/code-runtime.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { TOOLS_FOR_PROGRAMS } from "../../routers/tool-registry.ts";
import { countVolumes, DenoCodeRuntime } from "../drivers/code-runtime/deno-code-runtime.ts";
import { SANDBOX_FILES } from "../drivers/code-runtime/deno-command.ts";
import { MODULES_FOLDER } from "../drivers/code-runtime/prepare-importable-modules.ts";
import { openProgramsFolder } from "../drivers/code-runtime/program-folders.ts";
import { UnavailableCodeRuntime } from "../drivers/code-runtime/unavailable-code-runtime.ts";
import { VOLUME_SIZE } from "../drivers/code-runtime/workspace-volumes.ts";
import { BubblewrapSandbox } from "../sandbox/bubblewrap.ts";
import { volumeProblem } from "../sandbox/memory-volume.ts";
import type { Foundation } from "./foundation.ts";

/** Opens the runtime of programs, which call apps through `procedures`. */
export async function openExecution(
  foundation: Foundation,
  procedures: Capabilities["procedures"],
  opening: AsyncDisposableStack,
): Promise<Capabilities["execution"]> {
  const codeRuntime = await openCodeRuntime(foundation, opening);
  const { database, usageCounter } = foundation;
  return { ...procedures, db: database.db, codeRuntime, usageCounter, toolDeclarations: TOOLS_FOR_PROGRAMS };
}

async function openCodeRuntime(
  { config, controlGroups, startProcess, agentWorkspaces, log }: Foundation,
  opening: AsyncDisposableStack,
): Promise<CodeRuntime> {
  if (config.sandbox === "none") return new UnavailableCodeRuntime();
  const shared = { groups: controlGroups, startProcess };
  const sandbox = opening.use(
    new BubblewrapSandbox({ ...SANDBOX_FILES, ...shared, kind: "programs", prepareFiles: true }),
  );
  const onInternalError = (err: unknown, call: string): void => log.error({ err, call }, "a call of a program failed");
  const programsFolder = await openProgramsFolder(config.dataDirectory);
  const problem = await volumeProblem(path.join(config.dataDirectory, "agent-workspaces"), {
    users: "programs",
    count: countVolumes(),
    sizeMb: VOLUME_SIZE.sizeMb,
    processMb: 0,
  });
  if (problem !== null) log.warn({ problem }, "the kernel does not limit the size of agent workspaces");
  return opening.use(
    new DenoCodeRuntime({
      sandbox,
      programsFolder,
      modulesFolder: MODULES_FOLDER,
      workspaces: agentWorkspaces,
      hasVolumesInMemory: problem === null,
      startProcess,
      onInternalError,
    }),
  );
}
