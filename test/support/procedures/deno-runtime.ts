import { glob, mkdir } from "node:fs/promises";
import path from "node:path";
import {
  DenoCodeRuntime,
  type DenoCodeRuntimeOptions,
} from "../../../server/drivers/code-runtime/deno-code-runtime.ts";
import { SANDBOX_FILES } from "../../../server/drivers/code-runtime/deno-command.ts";
import { MODULES_FOLDER } from "../../../server/drivers/code-runtime/prepare-importable-modules.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { temporaryFolder } from "../temporary-folder.ts";

export interface TestDenoRuntime extends AsyncDisposable {
  runtime: DenoCodeRuntime;
  programsFolder: string;
  /** Lists the folders of programs on the host. */
  listProgramFolders(): Promise<string[]>;
}

/** Opens a runtime with a programs folder of its own. */
export async function openDenoRuntime(options: Partial<DenoCodeRuntimeOptions> = {}): Promise<TestDenoRuntime> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const programsFolder = path.join(folder.path, "programs");
  await mkdir(programsFolder);
  const sandbox = opening.use(new BubblewrapSandbox({ ...SANDBOX_FILES, prepareFiles: true }));
  const runtime = opening.use(
    new DenoCodeRuntime({ sandbox, programsFolder, modulesFolder: MODULES_FOLDER, ...options }),
  );
  const resources = opening.move();
  return {
    runtime,
    programsFolder,
    listProgramFolders: () => Array.fromAsync(glob(path.join(programsFolder, "*", "program-*"))),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
