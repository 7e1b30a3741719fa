import { type Runtime, RUNTIMES } from "../ports/bundler.ts";
import { ServiceError } from "../shared/errors.ts";
import { isRecord, parseJson } from "../shared/json.ts";

/** The first member of an export. */
export const MANIFEST_PATH = "manifest.json";
/** The member with the source, which is a tar archive, plain or compressed. */
export const SOURCE_PATH = "source.archive";
/** Before the paths of the members with data. */
export const DATA_PREFIX = "data/";

const FORMAT = "app-export";
/** The version of an export without PostgreSQL, so that earlier versions of the service can read it. */
const VERSION = 1;
/** The version of an export with a PostgreSQL database. */
const POSTGRES_VERSION = 2;

/** What a member must have. */
export interface ListedMember {
  path: string;
  /** In bytes. */
  size: number;
  /** In hex. */
  sha256: string;
}

export interface ExportedVariable {
  name: string;
  secret: boolean;
  build: boolean;
  /** Absent unless its owner asked for values, and always for a secret. */
  value?: string;
}

/** The settings of the app. */
export interface ExportedApp {
  name: string;
  /** How it has to run; `null` to detect it. */
  requested_runtime: Runtime | null;
  root_directory: string | null;
  build_network: boolean;
  /** Where the source came from; `null` for an app without a repository. */
  repository: { repo: string; host: string | null; branch: string | null; commit: string | null } | null;
  variables: ExportedVariable[];
}

export interface ExportManifest {
  format: typeof FORMAT;
  version: typeof VERSION | typeof POSTGRES_VERSION;
  /** ISO 8601, UTC. */
  exported_at: string;
  /** How the exported version ran. */
  runtime: Runtime;
  app: ExportedApp;
  /** What is left out, or may be inconsistent. */
  warnings: readonly string[];
  /** All further members, in their order. */
  members: readonly ListedMember[];
}

export function formatManifest(manifest: Omit<ExportManifest, "format" | "version">): Uint8Array {
  const version = hasPostgres(manifest.members) ? POSTGRES_VERSION : VERSION;
  return Buffer.from(`${JSON.stringify({ format: FORMAT, version, ...manifest }, null, 2)}\n`);
}

/** The PostgreSQL database of a Node server. */
const POSTGRES_PATH = /^data[/]postgres[/](?:0-schema|1-rows-[0-9]{6}|2-constraints)[.]sql$/;
/** The data of apps: their databases, and what is stored beside their scripts. */
const DATA_PATH = new RegExp(
  `${POSTGRES_PATH.source}|^data[/](?:database[.]sqlite(?:-wal|-journal)?|storage[/].+)$`,
  "s",
);

function hasPostgres(members: readonly ListedMember[]): boolean {
  return members.some(({ path }) => POSTGRES_PATH.test(path));
}

/** @throws {ServiceError} `invalid` for a manifest that this version of the service cannot read */
export function parseManifest(bytes: Uint8Array): ExportManifest {
  const value = parseJson(Buffer.from(bytes).toString("utf8"));
  if (!isRecord(value) || value["format"] !== FORMAT) throw refused("it is not an export of an app.");
  const { version } = value;
  if (version !== VERSION && version !== POSTGRES_VERSION)
    throw refused(
      `it has version ${JSON.stringify(version)} of the format. This service reads ${VERSION} and ${POSTGRES_VERSION}.`,
    );
  const { app, runtime, members, warnings, exported_at: exportedAt } = value;
  if (!isOneOf(runtime) || !isApp(app) || !isText(exportedAt)) throw damaged();
  if (!Array.isArray(warnings) || !warnings.every(isText)) throw damaged();
  if (!Array.isArray(members) || !members.every(isMember)) throw damaged();
  if (members[0]?.path !== SOURCE_PATH) throw damaged();
  const foreign = members.slice(1).find(({ path }) => !DATA_PATH.test(path));
  if (foreign !== undefined) throw refused(`${JSON.stringify(foreign.path)} is not a path of an app's data.`);
  if (new Set(members.map(({ path }) => path)).size !== members.length) throw damaged();
  const needed = hasPostgres(members) ? POSTGRES_VERSION : VERSION;
  if (version < needed || (hasPostgres(members) && runtime !== "node")) throw damaged();
  return { format: FORMAT, version, exported_at: exportedAt, runtime, app, warnings, members };
}

function isApp(value: unknown): value is ExportedApp {
  if (!isRecord(value) || !isText(value["name"]) || !Array.isArray(value["variables"])) return false;
  const { requested_runtime: runtime, root_directory: folder, build_network: network, variables } = value;
  return (
    (runtime === null || isOneOf(runtime)) &&
    (folder === null || isText(folder)) &&
    typeof network === "boolean" &&
    variables.every(isVariable)
  );
}

function isVariable(value: unknown): value is ExportedVariable {
  if (!isRecord(value) || !isText(value["name"])) return false;
  const { secret, build, value: text } = value;
  return typeof secret === "boolean" && typeof build === "boolean" && (text === undefined || typeof text === "string");
}

function isMember(value: unknown): value is ListedMember {
  if (!isRecord(value) || !isText(value["path"])) return false;
  const { size, sha256 } = value;
  return Number.isSafeInteger(size) && Number(size) >= 0 && typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256);
}

function isOneOf(value: unknown): value is Runtime {
  return (RUNTIMES as readonly unknown[]).includes(value);
}

const MAX_TEXT = 4000;

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_TEXT;
}

function damaged(): ServiceError {
  return refused(`${MANIFEST_PATH} is damaged.`);
}

export function refused(problem: string): ServiceError {
  return new ServiceError("invalid", `file: ${problem}`);
}
