import type { AgentWorkspaces } from "../../../domain/ports/agent-workspaces.ts";
import { glob, mkdir } from "node:fs/promises";
import path from "node:path";
import {
  DenoCodeRuntime,
  type DenoCodeRuntimeOptions,
} from "../../../server/drivers/code-runtime/deno-code-runtime.ts";
import { SANDBOX_FILES } from "../../../server/drivers/code-runtime/deno-command.ts";
import { MODULES_FOLDER } from "../../../server/drivers/code-runtime/prepare-importable-modules.ts";
import { VOLUME_SIZE } from "../../../server/drivers/code-runtime/workspace-volumes.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { volumeProblem } from "../../../server/sandbox/memory-volume.ts";
import { openTestWorkspaces } from "../agents/test-workspaces.ts";
import { temporaryFolder } from "../temporary-folder.ts";

await using probed = await temporaryFolder();
/** Whether this host can mount the workspaces of programs. */
export const hasVolumesInMemory =
  (await volumeProblem(probed.path, { users: "programs", count: 1, sizeMb: VOLUME_SIZE.sizeMb, processMb: 0 })) ===
  null;

export interface TestDenoRuntime extends AsyncDisposable {
  runtime: DenoCodeRuntime;
  workspaces: AgentWorkspaces;
  programsFolder: string;
  /** Lists the folders of programs on the host. */
  listProgramFolders(): Promise<string[]>;
}

/**
 * Opens a runtime with a programs folder of its own.
 *
 * @param databaseUrl - a database for the workspaces, outside of Vitest
 */
export async function openDenoRuntime({
  databaseUrl,
  ...options
}: Partial<DenoCodeRuntimeOptions> & { databaseUrl?: string } = {}): Promise<TestDenoRuntime> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const programsFolder = path.join(folder.path, "programs");
  await mkdir(programsFolder);
  const sandbox = opening.use(new BubblewrapSandbox({ ...SANDBOX_FILES, prepareFiles: true }));
  const { workspaces } = opening.use(await openTestWorkspaces(databaseUrl === undefined ? {} : { databaseUrl }));
  const runtime = opening.use(
    new DenoCodeRuntime({
      sandbox,
      programsFolder,
      modulesFolder: MODULES_FOLDER,
      workspaces,
      hasVolumesInMemory,
      ...options,
    }),
  );
  const resources = opening.move();
  return {
    runtime,
    workspaces: options.workspaces ?? workspaces,
    programsFolder,
    listProgramFolders: () => Array.fromAsync(glob(path.join(programsFolder, "*", "program-*"))),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
