import type {
  IsolatedApp,
  IsolatedAppRequest,
  IsolatedRuntime,
  TrialRequest,
} from "../../../ports/isolated-runtime.ts";
import { readUploadForm, type UploadForm } from "./upload-form.ts";
import {
  codeOptions,
  fileBindings,
  type MiniflareWorkerOptions,
  WORKER_NAME,
  workerOptions,
} from "./worker-options.ts";
import { bindingOptions } from "./worker-bindings.ts";
import type { WorkerdLauncher } from "./workerd-launcher.ts";

const NO_NETWORK = { network: { allow: [] } };

/** In bytes. V8 reserves about 500 MB of it without using them. */
const DATA_BYTES = 900_000 * 1024;

/**
 * Starts the code of an app in workerd as the edge does, but without its bindings, storage, static files and network. Only
 * its durable objects exist, with storage that is removed afterwards: they are code of the app itself.
 */
export class WorkerdIsolatedRuntime implements IsolatedRuntime {
  readonly #launcher: WorkerdLauncher;
  readonly #databaseDirectory: (databaseId: string) => string;

  /** @param databaseDirectory - returns the folder of a SQL database */
  constructor(launcher: WorkerdLauncher, databaseDirectory: (databaseId: string) => string) {
    this.#launcher = launcher;
    this.#databaseDirectory = databaseDirectory;
  }

  async start({ scriptPath, ...inspection }: IsolatedAppRequest, signal: AbortSignal): Promise<IsolatedApp> {
    const worker = isolatedWorker(await readUploadForm(scriptPath), inspection);
    const folders = { storageDirectory: null, databaseDirectory: null, assetsDirectory: null };
    return this.#launcher.start({ worker, ...folders, dataBytes: DATA_BYTES }, signal);
  }

  async startTrial({ scriptPath, variables, ...app }: TrialRequest, signal: AbortSignal): Promise<IsolatedApp> {
    const worker = workerOptions(app, await readUploadForm(scriptPath), variables);
    const folders = {
      storageDirectory: null,
      databaseDirectory: this.#databaseDirectory(app.databaseId),
      assetsDirectory: app.assets?.directory ?? null,
    };
    return this.#launcher.start({ worker: { ...worker, outboundService: NO_NETWORK }, ...folders }, signal);
  }
}

function isolatedWorker(
  form: UploadForm,
  { addModules, editModule = (source) => source }: Omit<IsolatedAppRequest, "scriptPath">,
): MiniflareWorkerOptions {
  const { modules = [], modulesRoot, script, ...code } = codeOptions(form);
  const [main] = modules;
  const added = main === undefined ? [] : addModules(main.path);
  const edited = modules.map((module) =>
    typeof module.contents === "string" && (module.type === "ESModule" || module.type === "CommonJS")
      ? { ...module, contents: editModule(module.contents) }
      : module,
  );
  return {
    name: WORKER_NAME,
    ...code,
    ...(script === undefined
      ? {
          ...(modulesRoot === undefined ? {} : { modulesRoot }),
          modules: [...added.map((module) => ({ type: "ESModule" as const, ...module })), ...edited],
        }
      : { script, ...fileBindings(form) }),
    outboundService: NO_NETWORK,
    cache: false,
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    ...codeGeneration(form),
    ...durableObjects(form),
  };
}

function durableObjects(form: UploadForm): Pick<MiniflareWorkerOptions, "durableObjects"> {
  const own = form.metadata.bindings.filter(({ type }) => type === "durable_object_namespace");
  return { durableObjects: bindingOptions(own, { databaseId: "", variables: {} }).durableObjects };
}

/** The binding without which a Node server that generates code does not start. It gives access to nothing else. */
function codeGeneration(form: UploadForm): Pick<MiniflareWorkerOptions, "unsafeEvalBinding"> {
  const servers = form.metadata.bindings.filter(({ type }) => type === "node_server");
  const { unsafeEvalBinding } = bindingOptions(servers, { databaseId: "", variables: {} });
  return unsafeEvalBinding === undefined ? {} : { unsafeEvalBinding };
}
