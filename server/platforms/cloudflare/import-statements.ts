import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { boundText, CloudflareError } from "./cloudflare-error.ts";

/** Either where the file is to be uploaded, or the state of an import of a file that Cloudflare has already. */
const progress = z.object({
  upload_url: z.url().optional(),
  filename: z.string().optional(),
  at_bookmark: z.string().optional(),
  status: z.string().optional(),
  error: z.string().nullish(),
  errors: z.array(z.string()).nullish(),
});
type Progress = z.output<typeof progress>;

const OPERATION = "import statements";
const UPLOAD_MS = 10 * 60_000;
const POLL_MS = 1000;
const MAX_POLLS = 900;

/** The database has rejected a statement. None was applied. */
export class ImportFailed extends Error {
  override readonly name = "ImportFailed";
}

/**
 * Runs statements that are too long for one request, as one transaction: Cloudflare gets them as a file. While it imports them, the database
 * responds to no other request.
 *
 * @param sql - a repetition with the same text can find the import of an attempt before
 * @throws {ImportFailed}
 * @throws {CloudflareError} after which the statements may have been applied
 */
export async function importStatements(
  client: CloudflareClient,
  { uuid, sql, signal }: { uuid: string; sql: string; signal: AbortSignal },
): Promise<void> {
  const call = (body: object, isRepeatable = true): Promise<Progress> => {
    const request = { operation: OPERATION, method: "POST", path: `d1/database/${uuid}/import` } as const;
    return client.call({ ...request, body, isRepeatable, signal }, progress);
  };
  const etag = createHash("md5").update(sql).digest("hex");
  let current = await call({ action: "init", etag });
  const { upload_url: url, filename } = current;
  if (url !== undefined) {
    await upload(url, sql, etag, signal);
    // A repetition would begin a second import.
    current = await call({ action: "ingest", etag, filename }, false);
  }
  for (let poll = 0; current.status !== "complete"; poll++) {
    const problem = current.error ?? current.errors?.join(" ");
    if (current.status === "error" || problem) throw new ImportFailed(boundText(problem ?? "The import failed."));
    if (poll === MAX_POLLS) throw new CloudflareError(OPERATION, null, []);
    await sleep(POLL_MS, null, { signal });
    current = await call({ action: "poll", current_bookmark: current.at_bookmark });
  }
}

/** Uploads a file to the address that Cloudflare has signed, without the API token. @throws {CloudflareError} */
async function upload(url: string, sql: string, etag: string, signal: AbortSignal): Promise<void> {
  try {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(UPLOAD_MS)]);
    const response = await fetch(url, { method: "PUT", body: sql, redirect: "error", signal: timeout });
    await response.body?.cancel();
    if (!response.ok) throw new CloudflareError(OPERATION, response.status, []);
    if (response.headers.get("etag")?.replaceAll('"', "") !== etag)
      throw new Error("The file that was uploaded is not the one that was stored.");
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof CloudflareError) throw cause;
    throw new CloudflareError(OPERATION, null, [], { cause });
  }
}
