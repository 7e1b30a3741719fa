import { readUploadForm, type UploadForm } from "./upload-form.ts";
import { codeOptions, WORKER_NAME, type WorkerOptions } from "./worker-options.ts";
import type { WorkerdLauncher } from "./workerd-launcher.ts";
import type { IsolatedStart, StartIsolated } from "../../../drivers/procedure-discovery/isolated-app.ts";

/** V8 reserves some 500 MB of it without using them. */
const DATA_BYTES = 900_000 * 1024;

/** Starts apps as the edge does, but with their code only: what they could reach or keep is not there. */
export function isolatedWorkers(launcher: WorkerdLauncher): StartIsolated {
  return async ({ scriptPath, modulesAround }, signal) => {
    const worker = isolatedWorker(await readUploadForm(scriptPath), modulesAround);
    const folders = { storageDirectory: null, databaseDirectory: null, assetsDirectory: null };
    return launcher.start({ worker, ...folders, dataBytes: DATA_BYTES }, signal);
  };
}

function isolatedWorker(form: UploadForm, modulesAround: IsolatedStart["modulesAround"]): WorkerOptions {
  const { modules, ...code } = codeOptions(form);
  const [main] = modules;
  const added = main === undefined ? [] : modulesAround(main.path);
  return {
    name: WORKER_NAME,
    ...code,
    modules: [...added.map((module) => ({ type: "ESModule" as const, ...module })), ...modules],
    outboundService: { network: { allow: [] } },
    cache: false,
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  };
}
