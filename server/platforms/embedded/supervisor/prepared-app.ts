import type { AppVariables } from "../../../../domain/ports/app-variables.ts";
import type { ScriptVersion } from "../script-version.ts";
import { readUploadForm } from "../workerd/upload-form.ts";
import { checkVariableNames } from "../workerd/worker-bindings.ts";
import { type MiniflareWorkerOptions, workerOptions } from "../workerd/worker-options.ts";

/** A version of an app with the variables to start it with. */
export interface PreparedApp {
  version: ScriptVersion;
  worker: MiniflareWorkerOptions;
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
  const form = await readUploadForm(version.formPath);
  const { version: variablesVersion, values, masks } = await variables.read(version.appId);
  return {
    version,
    variablesVersion,
    masks,
    worker: workerOptions(version, form, values),
    checkNames: () => checkVariableNames(form.metadata.bindings, values),
  };
}
