import type { CallOptions, RepeatableCallOptions } from "./call-options.ts";
import { followOrganization, type OrganizationEvent } from "./events.ts";
import { PROCEDURE_KINDS, type ProcedureKind, type Procedures } from "./generated/procedures.ts";
import { importTranscript, type ImportedTranscript, type ImportTranscriptRequest } from "./import-transcript.ts";
import {
  type BuildLogEvent,
  type BuildLogRequest,
  followBuildLog,
  followRuntimeLog,
  type RuntimeLog,
  type RuntimeLogRequest,
  type StreamOptions,
} from "./log-streams.ts";
import { exportApp, type ExportAppRequest, importApp, type ImportAppRequest, type ImportedApp } from "./move-app.ts";
import type { Input } from "./procedure-types.ts";
import { type ClientOptions, Transport } from "./transport.ts";
import { uploadArchive, type UploadArchiveRequest, type UploadedArchive } from "./upload-archive.ts";
import {
  deployAndWait,
  type DeployedApp,
  type Deployment,
  type DeployOptions,
  waitForDeployment,
  type WaitOptions,
} from "./wait-for-deployment.ts";

export type { CallOptions, RepeatableCallOptions } from "./call-options.ts";
export type { OrganizationEvent } from "./events.ts";
export type { Procedures } from "./generated/procedures.ts";
export type { ImportedTranscript, ImportTranscriptRequest } from "./import-transcript.ts";
export type { BuildLogEvent, BuildLogRequest, RuntimeLog, RuntimeLogRequest, StreamOptions } from "./log-streams.ts";
export type { Input, Output } from "./procedure-types.ts";
export { type InputIssue, type RejectionCode, ServiceError, type ServiceErrorCode } from "./service-error.ts";
export type { ClientOptions, TokenProvider } from "./transport.ts";
export type { UploadArchiveRequest, UploadedArchive } from "./upload-archive.ts";
export type { DeployedApp, Deployment, DeploymentProgress, DeployOptions, WaitOptions } from "./wait-for-deployment.ts";

/** Every procedure of the service, and functions that combine several. */
export interface Client extends Procedures {
  /** Deploys an app, and waits until it is ready. Rejects with `deployment_failed` or `deployment_canceled` otherwise. */
  deployAndWait(request: Input<"apps", "deploy">, options?: DeployOptions): Promise<DeployedApp>;
  /** Waits until a deployment is ready. Rejects with `deployment_failed` or `deployment_canceled` otherwise. */
  waitForDeployment(target: Input<"deployments", "get">, options?: WaitOptions): Promise<Deployment>;
  /** Uploads a tar archive with the source code of an app, to deploy it with its id as `archive`. It can be repeated. */
  uploadArchive(request: UploadArchiveRequest, options?: CallOptions): Promise<UploadedArchive>;
  /** Exports an app with its data. Returns the file, which `importApp` of another installation accepts. */
  exportApp(request: ExportAppRequest, options?: CallOptions): Promise<ReadableStream<Uint8Array>>;
  /** Creates an app from an export, and starts its first deployment. */
  importApp(request: ImportAppRequest, options?: CallOptions): Promise<ImportedApp>;
  /** Imports a transcript of Claude Code, Codex or another agent program into the session of an agent. It can be repeated: only new entries are added. */
  importTranscript(request: ImportTranscriptRequest, options?: CallOptions): Promise<ImportedTranscript>;
  /** Yields the lines of a build log from its start, then waits for the next ones until the deployment has ended. */
  followBuildLog(request: BuildLogRequest, options?: StreamOptions): AsyncGenerator<BuildLogEvent, void, undefined>;
  /** Yields what an app prints from now on, or since a time, until the app is deleted. */
  followRuntimeLog(request: RuntimeLogRequest, options?: StreamOptions): AsyncGenerator<RuntimeLog, void, undefined>;
  /** Yields what changes in the organization, such as the statuses of its apps, until the signal aborts. */
  followEvents(options?: StreamOptions): AsyncGenerator<OrganizationEvent, void, undefined>;
}

/**
 * Creates a client of the service.
 *
 * @throws {TypeError} for an invalid URL or an empty token
 */
export function createClient(options: ClientOptions): Client {
  const transport = new Transport(options);
  const procedures = createProcedures(transport);
  return {
    ...procedures,
    deployAndWait: (request, settings) => deployAndWait(transport, procedures, request, settings),
    waitForDeployment: (target, settings) => waitForDeployment(transport, procedures, target, settings),
    uploadArchive: (request, settings) => uploadArchive(transport, request, settings),
    exportApp: (request, settings) => exportApp(transport, request, settings),
    importApp: (request, settings) => importApp(transport, request, settings),
    importTranscript: (request, settings) => importTranscript(transport, request, settings),
    followBuildLog: (request, settings) => followBuildLog(transport, request, settings),
    followRuntimeLog: (request, settings) => followRuntimeLog(transport, request, settings),
    followEvents: (settings) => followOrganization(transport, settings),
  };
}

function createProcedures(transport: Transport): Procedures {
  const create = (path: string, kind: ProcedureKind) => (input?: unknown, options?: RepeatableCallOptions) =>
    transport.call(path, kind, input, options);
  const namespaces = Object.entries(PROCEDURE_KINDS).map(([namespace, kinds]) => {
    const calls = Object.entries(kinds).map(([name, kind]) => [name, create(`${namespace}.${name}`, kind)] as const);
    return [namespace, Object.fromEntries(calls)] as const;
  });
  return Object.fromEntries(namespaces) as unknown as Procedures;
}
