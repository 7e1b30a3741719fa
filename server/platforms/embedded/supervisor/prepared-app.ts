import type { AppVariables } from "../../../../domain/ports/app-variables.ts";
import type { NodeServer } from "../../../../domain/ports/bundler.ts";
import { namesOwnDatabase } from "../../../../domain/shared/postgres-variables.ts";
import type { PostgresDatabase } from "../../../ports/postgres.ts";
import type { AppPostgres } from "../postgres/app-postgres.ts";
import type { ScriptVersion, UnpackedLayer } from "../script-version.ts";
import { readUploadForm } from "../../shared/upload-form.ts";
import { checkVariableNames } from "../../shared/worker-bindings.ts";
import { type WorkerOptions, workerOptions } from "../workerd/worker-options.ts";

interface PreparedServer {
  server: NodeServer<UnpackedLayer>;
  env: Readonly<Record<string, string>>;
  /** The database of a server that uses PostgreSQL; `null` if its owner has named another one. */
  database: PostgresDatabase | null;
  /** Whether its database may lack changes: the version was never live. The owner of another database changes it themselves. */
  isToMigrate: boolean;
  /** Whether it is the first start of the version. */
  isNew: boolean;
}

/** What is started: the options of a Worker with its bindings, or a Node server and its environment variables. */
export type PreparedCode = { runtime: "worker"; worker: WorkerOptions } | ({ runtime: "node" } & PreparedServer);

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

export interface PrepareDeps {
  variables: AppVariables;
  postgres: Pick<AppPostgres, "open">;
}

/**
 * Reads the script of a version and the newest variables of its app.
 *
 * @param isNew - whether the version was never live
 * @throws {UnhealthyScript} when the bundle is malformed or has an unsupported binding
 * @throws {UnreadableVariable}
 */
export async function prepareApp(
  { variables, postgres }: PrepareDeps,
  version: ScriptVersion,
  { isNew } = { isNew: false },
): Promise<PreparedApp> {
  const { version: variablesVersion, values, masks } = await variables.read(version.appId);
  if (version.code.runtime === "node") {
    const { server } = version.code;
    const isOwn = server.postgres !== undefined && namesOwnDatabase(server.postgres.variables, values);
    const database = server.postgres === undefined || isOwn ? null : await postgres.open(version.databaseId);
    return {
      version,
      variablesVersion,
      masks: database === null ? masks : [...masks, database.password],
      code: { runtime: "node", server, env: values, database, isToMigrate: isNew && !isOwn, isNew },
      checkNames: () => {},
    };
  }
  const form = await readUploadForm(version.code.formPath);
  return {
    version,
    variablesVersion,
    masks,
    code: { runtime: "worker", worker: workerOptions(version, form, values) },
    checkNames: () => checkVariableNames(form.metadata.bindings, values),
  };
}
