import type { CallOptions } from "./call-options.ts";
import type { Transport } from "./transport.ts";

export interface ExportAppRequest {
  /** The id of the app. */
  id: string;
  /** Whether the export has the values of variables that are not secret; not by default. */
  variables?: boolean;
}

export interface ImportAppRequest {
  /** An export of an app. */
  file: Blob;
  /** The name of the new app. By default that of the exported one. */
  name?: string;
}

export interface ImportedApp {
  app_id: string;
  slug: string;
  /** Bearer token for authenticated requests to the app. */
  app_token: string;
  url: string;
  /** The variables of the exported app whose values are not in the export. */
  missing_variables: string[];
  /** What the export lacks, or may have inconsistent. */
  warnings: string[];
}

/** Exports an app with its data, as a tar archive that is compressed by gzip. */
export async function exportApp(
  transport: Transport,
  { id, variables = false }: ExportAppRequest,
  options: CallOptions = {},
): Promise<ReadableStream<Uint8Array>> {
  return await transport.download(`/v1/apps/${encodeURIComponent(id)}/export`, { variables }, options);
}

/** Creates an app from an export, and starts its first deployment. A repeated attempt of one call creates one app. */
export async function importApp(
  transport: Transport,
  { file, name }: ImportAppRequest,
  options: CallOptions = {},
): Promise<ImportedApp> {
  const query = name === undefined ? "" : `?name=${encodeURIComponent(name)}`;
  const headers = { "idempotency-key": crypto.randomUUID() };
  const upload = { body: () => file, contentType: "application/gzip", headers };
  return (await transport.upload(`/v1/apps/import${query}`, upload, options)) as ImportedApp;
}
