import type { AppVariables } from "../../../../domain/ports/app-variables.ts";
import type { NodeServer } from "../../../../domain/ports/bundler.ts";
import type { ScriptVersion, UnpackedLayer } from "../script-version.ts";
import { readUploadForm } from "../workerd/upload-form.ts";
import { checkVariableNames } from "../workerd/worker-bindings.ts";
import { type MiniflareWorkerOptions, workerOptions } from "../workerd/worker-options.ts";

/** What is started: the options of a Worker with its bindings, or a Node server and its environment variables. */
export type PreparedCode =
  | { runtime: "worker"; worker: MiniflareWorkerOptions }
  | { runtime: "node"; server: NodeServer<UnpackedLayer>; env: Readonly<Record<string, string>> };

/** A version of an app with the variables to start it with. */
export interface PreparedApp {
  version: ScriptVersion;
  code: PreparedCode;
  variablesVersion: number;
  /** The texts that messages from the app must not contain: its secrets. */
  masks: readonly string[];
  /** @throws {UnhealthyScript} when a binding of the script hides a variable */
  checkNames(): void;
}

/**
 * Reads the script of a version and the newest variables of its app.
 *
 * @throws {UnhealthyScript} when the bundle is malformed or has an unsupported binding
 * @throws {UnreadableVariable}
 */
export async function prepareApp(version: ScriptVersion, variables: AppVariables): Promise<PreparedApp> {
  const { version: variablesVersion, values, masks } = await variables.read(version.appId);
  const prepared = { version, variablesVersion, masks };
  if (version.code.runtime === "node")
    return { ...prepared, code: { ...version.code, env: values }, checkNames: () => {} };
  const form = await readUploadForm(version.code.formPath);
  return {
    ...prepared,
    code: { runtime: "worker", worker: workerOptions(version, form, values) },
    checkNames: () => checkVariableNames(form.metadata.bindings, values),
  };
}
