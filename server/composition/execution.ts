import type { CodeRuntime } from "../../domain/ports/code-runtime.ts";
import { ProcedureIndex } from "../../domain/procedures/procedure-index.ts";
import type { Service } from "../../routers/core/context.ts";
import { TOOLS_FOR_PROGRAMS } from "../../routers/tool-registry.ts";
import { EdgeProxyCaller } from "../drivers/app-caller/edge-proxy-caller.ts";
import { countVolumes, DenoCodeRuntime } from "../drivers/code-runtime/deno-code-runtime.ts";
import { SANDBOX_FILES } from "../drivers/code-runtime/deno-command.ts";
import { MODULES_FOLDER } from "../drivers/code-runtime/prepare-importable-modules.ts";
import { openProgramsFolder } from "../drivers/code-runtime/program-folders.ts";
import { UnavailableCodeRuntime } from "../drivers/code-runtime/unavailable-code-runtime.ts";
import { VOLUME_SIZE } from "../drivers/code-runtime/workspace-volumes.ts";
import { BubblewrapSandbox } from "../sandbox/bubblewrap.ts";
import { volumeProblem } from "../sandbox/memory-volume.ts";
import type { Foundation } from "./foundation.ts";

type ExecutionParts = Pick<Service, "appCaller" | "codeRuntime" | "procedureIndex" | "toolDeclarations">;

/** Opens the part of the service that calls the procedures of apps and runs programs. */
export async function openExecution(foundation: Foundation, opening: AsyncDisposableStack): Promise<ExecutionParts> {
  const { database, edge } = foundation;
  return {
    procedureIndex: new ProcedureIndex(database.db),
    appCaller: new EdgeProxyCaller((slug, unreachable) => edge.addressOf(slug, unreachable)),
    codeRuntime: await openCodeRuntime(foundation, opening),
    toolDeclarations: TOOLS_FOR_PROGRAMS,
  };
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
  const problem = await volumeProblem(programsFolder, {
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
