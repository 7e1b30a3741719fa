import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import {
  DenoCodeRuntime,
  type DenoCodeRuntimeOptions,
} from "../../../server/drivers/code-runtime/deno-code-runtime.ts";
import { SANDBOX_FILES } from "../../../server/drivers/code-runtime/deno-command.ts";
import { MODULES_FOLDER } from "../../../server/drivers/code-runtime/importable-modules.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { temporaryFolder } from "../temporary-folder.ts";

export interface TestDenoRuntime extends AsyncDisposable {
  runtime: DenoCodeRuntime;
  /** Lists the folders of programs on the host. */
  listProgramFolders(): Promise<string[]>;
}

/** Opens a runtime with a programs folder of its own. */
export async function openDenoRuntime(options: Partial<DenoCodeRuntimeOptions> = {}): Promise<TestDenoRuntime> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const programsFolder = path.join(folder.path, "programs");
  await mkdir(programsFolder);
  const sandbox = new BubblewrapSandbox(SANDBOX_FILES);
  const runtime = opening.use(
    new DenoCodeRuntime({ sandbox, programsFolder, modulesFolder: MODULES_FOLDER, ...options }),
  );
  const resources = opening.move();
  return {
    runtime,
    listProgramFolders: async () => (await readdir(programsFolder)).map((name) => path.join(programsFolder, name)),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
