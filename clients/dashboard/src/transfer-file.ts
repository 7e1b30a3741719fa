import { fetchAuthorized, RestError, sendAuthorized } from "./api.ts";

interface Transfer {
  organizationId: string;
  /** The path of the REST API. */
  path: string;
  /** Ends the transfer. */
  signal: AbortSignal;
  /** Receives how many bytes were transferred so far. */
  onProgress: (bytes: number) => void;
}

const FAILED = "The request failed. Try again.";
const INTERRUPTED = "The connection was interrupted. Try again.";

/**
 * Posts JSON, and returns the file in the response.
 *
 * @throws {RestError}
 * @throws {SignedOutError}
 */
export async function downloadWithProgress({ signal, ...transfer }: Transfer, body: object): Promise<Blob> {
  const headers = { "content-type": "application/json", "x-service-org-id": transfer.organizationId };
  const response = await fetchAuthorized(transfer.path, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok || response.body === null) throw new RestError(toMessage(await response.text().catch(() => "")));
  let bytes = 0;
  const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      transfer.onProgress((bytes += chunk.length));
      controller.enqueue(chunk);
    },
  });
  try {
    // Browsers keep a large blob on disk.
    return await new Response(response.body.pipeThrough(counter)).blob();
  } catch (cause) {
    signal.throwIfAborted();
    throw new RestError("The download was interrupted, so the file is incomplete. Try again.", { cause });
  }
}

/**
 * Posts a file, and returns the response. Uses `XMLHttpRequest`, because `fetch` does not say how much was sent.
 *
 * @throws {RestError}
 * @throws {SignedOutError}
 */
export async function uploadWithProgress<T>(transfer: Transfer, file: File): Promise<T> {
  // A repeated request creates nothing twice.
  const key = crypto.randomUUID();
  const { status, text } = await sendAuthorized((token) => post(transfer, file, { token, key }));
  if (status < 200 || status > 299) throw new RestError(toMessage(text));
  return JSON.parse(text) as T;
}

function post(
  { organizationId, path, signal, onProgress }: Transfer,
  file: File,
  { token, key }: { token: string; key: string },
): Promise<{ status: number; text: string }> {
  const request = new XMLHttpRequest();
  request.open("POST", path);
  request.setRequestHeader("authorization", `Bearer ${token}`);
  request.setRequestHeader("content-type", "application/octet-stream");
  request.setRequestHeader("idempotency-key", key);
  request.setRequestHeader("x-service-org-id", organizationId);
  return new Promise((resolve, reject) => {
    request.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded));
    request.addEventListener("load", () => resolve({ status: request.status, text: request.responseText }));
    request.addEventListener("error", () => reject(new RestError(INTERRUPTED)));
    request.addEventListener("abort", () => reject(signal.reason as Error));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}

function toMessage(text: string): string {
  try {
    return (JSON.parse(text) as { error?: string }).error ?? FAILED;
  } catch {
    return FAILED;
  }
}
