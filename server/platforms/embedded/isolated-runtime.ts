import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { Layer, NodeServer } from "../../../domain/ports/bundler.ts";
import { omitDatabase } from "../../../domain/shared/postgres-variables.ts";
import { ISOLATED_URL } from "../../http/edge/forwarded-headers.ts";
import { removeTree } from "../../files/remove-tree.ts";
import type {
  AddedModule,
  IsolatedApp,
  IsolatedAppRequest,
  IsolatedRuntime,
  IsolatedServerRequest,
  TrialRequest,
} from "../../ports/isolated-runtime.ts";
import type { TemporaryDatabases } from "../../ports/postgres.ts";
import { readUploadForm, type UploadForm } from "../shared/upload-form.ts";
import { codeOptions, fileBindings, type WorkerOptions, WORKER_NAME, workerOptions } from "./workerd/worker-options.ts";
import { bindingOptions } from "../shared/worker-bindings.ts";
import type { WorkerdLauncher } from "./workerd/workerd-launcher.ts";
import type { NodeLauncher } from "./node-server/node-launcher.ts";
import { writePreload } from "./node-server/write-preload.ts";
import type { UnpackLayer } from "./scripts/script-store.ts";

const NO_NETWORK = { network: { allow: [] } };

/** In bytes. V8 reserves about 500 MB of it without using them. */
const DATA_BYTES = 900_000 * 1024;

interface ServerSettings extends Pick<TrialRequest, "variables"> {
  addedModules?: readonly AddedModule[];
  masks?: readonly string[];
}

interface EmbeddedIsolatedRuntimeOptions {
  launcher: WorkerdLauncher;
  nodeLauncher: NodeLauncher;
  unpack: UnpackLayer;
  postgres: TemporaryDatabases;
  /** A folder for files that exist only as long as an inspection. */
  launchRoot: string;
  /** Returns the folder of a SQL database. */
  databaseDirectory: (databaseId: string) => string;
}

/**
 * Starts the code of an app as the edge does, but without its bindings, storage, static files and network. Of a Worker, only
 * its durable objects exist, with storage that is removed afterwards: they are code of the app itself.
 */
export class EmbeddedIsolatedRuntime implements IsolatedRuntime {
  readonly #options: EmbeddedIsolatedRuntimeOptions;

  constructor(options: EmbeddedIsolatedRuntimeOptions) {
    this.#options = options;
  }

  async start({ scriptPath, ...inspection }: IsolatedAppRequest, signal: AbortSignal): Promise<IsolatedApp> {
    const worker = isolatedWorker(await readUploadForm(scriptPath), inspection);
    const folders = { storageDirectory: null, databaseDirectory: null, assetsDirectory: null };
    return this.#options.launcher.start({ worker, ...folders, dataBytes: DATA_BYTES }, signal);
  }

  startServer(
    { server, addedModules, variables: { values, masks } }: IsolatedServerRequest,
    signal: AbortSignal,
  ): Promise<IsolatedApp> {
    const { postgres } = server;
    // No other database can be reached.
    const variables = postgres === undefined ? values : omitDatabase(postgres.variables, values);
    return this.#startServer(server, { variables, masks, addedModules }, signal);
  }

  async startTrial({ code, variables, ...app }: TrialRequest, signal: AbortSignal): Promise<IsolatedApp> {
    if (code.runtime === "node") {
      // Values in trials are placeholders, which name no database.
      const own = omitDatabase(code.server.postgres?.variables ?? {}, variables);
      return this.#startServer(code.server, { variables: own }, signal);
    }
    const worker = workerOptions(app, await readUploadForm(code.scriptPath), variables);
    const folders = {
      storageDirectory: null,
      databaseDirectory: this.#options.databaseDirectory(app.databaseId),
      assetsDirectory: app.assets?.directory ?? null,
    };
    return this.#options.launcher.start({ worker: { ...worker, outboundService: NO_NETWORK }, ...folders }, signal);
  }

  async #startServer(
    { layers, ...server }: NodeServer,
    { variables: env, addedModules = [], masks = [] }: ServerSettings,
    signal: AbortSignal,
  ): Promise<IsolatedApp> {
    await using starting = new AsyncDisposableStack();
    const folder = path.join(this.#options.launchRoot, randomUUID());
    starting.defer(() => removeTree(folder));
    const directories = await this.#unpackLayers(layers, folder, signal);
    const { postgres, nodeLauncher } = this.#options;
    const database = server.postgres === undefined ? null : starting.use(await postgres.openTemporary());
    const dataDirectory = path.join(folder, "data");
    const data = { dataDirectory, database, hasNetwork: false };
    const launch = { url: ISOLATED_URL, ...server, layers: directories, ...data, env, masks };
    await nodeLauncher.migrate(launch, signal);
    const preload = await writePreload(path.join(folder, "added"), addedModules);
    const app = starting.use(await nodeLauncher.start({ ...launch, preload }, signal));
    const resources = starting.move();
    return { address: app.address, [Symbol.asyncDispose]: () => resources.disposeAsync() };
  }

  async #unpackLayers(layers: readonly Layer[], folder: string, signal: AbortSignal): Promise<string[]> {
    const directories: string[] = [];
    for (const [index, layer] of layers.entries()) {
      const directory = path.join(folder, String(index));
      await mkdir(directory, { recursive: true, mode: 0o755 });
      await this.#options.unpack(layer.path, directory, signal);
      directories.push(directory);
    }
    return directories;
  }
}

function isolatedWorker(
  form: UploadForm,
  { addModules, editModule = (source) => source }: Omit<IsolatedAppRequest, "scriptPath">,
): WorkerOptions {
  const { modules = [], script, ...code } = codeOptions(form);
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
          modules: [...added.map((module) => ({ type: "ESModule" as const, ...module })), ...edited],
        }
      : { script, ...fileBindings(form) }),
    outboundService: NO_NETWORK,
    ...codeGeneration(form),
    ...durableObjects(form),
  };
}

function durableObjects(form: UploadForm): Pick<WorkerOptions, "durableObjects"> {
  const own = form.metadata.bindings.filter(({ type }) => type === "durable_object_namespace");
  return { durableObjects: bindingOptions(own, { databaseId: "", variables: {} }).durableObjects };
}

/** The binding without which a Node server that generates code does not start. It gives access to nothing else. */
function codeGeneration(form: UploadForm): Pick<WorkerOptions, "unsafeEvalBinding"> {
  const servers = form.metadata.bindings.filter(({ type }) => type === "node_server");
  const { unsafeEvalBinding } = bindingOptions(servers, { databaseId: "", variables: {} });
  return unsafeEvalBinding === undefined ? {} : { unsafeEvalBinding };
}
