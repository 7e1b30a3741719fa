import type { VariableSet } from "../../domain/ports/app-variables.ts";
import type { Bundle, NodeServer } from "../../domain/ports/bundler.ts";
import type { AppAddress } from "./app-address.ts";

/** An app that runs for inspection only. Disposing it stops it. */
export interface IsolatedApp extends AsyncDisposable {
  /** Where it listens for HTTP. */
  address: AppAddress;
}

/** A module that is added to those of the app. Its path is absolute. */
export interface AddedModule {
  path: string;
  contents: string;
}

export interface IsolatedAppRequest {
  /** The app's upload form (see `Bundle`). */
  scriptPath: string;
  /**
   * Receives the absolute path of the app's main module. The first module it returns becomes the main module. Not called for
   * a service worker, which imports no modules.
   */
  addModules: (mainPath: string) => AddedModule[];
  /** Receives the source of each JavaScript module of the app, and returns the one that runs in its place. */
  editModule?: (source: string) => string;
}

export interface IsolatedServerRequest {
  server: NodeServer;
  /** The first one, a CommonJS module, is loaded in every Node.js process before the code of the server. */
  addedModules: readonly AddedModule[];
  /** What it prints is masked. Those that name a PostgreSQL database are left out if it gets a temporary one. */
  variables: Pick<VariableSet, "values" | "masks">;
}

export interface TrialRequest extends Pick<Bundle, "code" | "assets"> {
  /** A SQL database that only this trial uses. */
  databaseId: string;
  variables: Readonly<Record<string, string>>;
}

/** Runs the code of an app for inspection, beside its deployment. */
export interface IsolatedRuntime {
  /**
   * Starts an app in a sandbox of its own, without network, bindings and storage, except for its durable objects, whose
   * storage is temporary. The first added module must export their classes.
   *
   * @throws {UnhealthyScript} when the code of the app prevents the start
   */
  start(request: IsolatedAppRequest, signal: AbortSignal): Promise<IsolatedApp>;

  /**
   * Starts a Node server in a sandbox of its own, without network, and with storage that is removed afterwards.
   *
   * @throws {UnhealthyScript} when it does not start
   */
  startServer(request: IsolatedServerRequest, signal: AbortSignal): Promise<IsolatedApp>;

  /**
   * Starts an app as the edge platform does, with its bindings and temporary storage, but without network.
   *
   * @throws {UnhealthyScript} when the code of the app prevents the start
   */
  startTrial(request: TrialRequest, signal: AbortSignal): Promise<IsolatedApp>;
}
