import type { HostileEndpoints } from "./hostile-endpoints.ts";

/** An organization that uses all that its plan and its tokens permit. */
export interface HostileCaller {
  /** The URL of the service. */
  url: string;
  apiKey: string;
  personalAccessToken: string;
  /** The model and the gateway that the service uses. */
  endpoints: HostileEndpoints;
  signal: AbortSignal;
}

/** Something that one organization does, and that must not make others wait. */
export interface HostileAct {
  name: string;
  /** Creates what `run` sends, so that its creation is not measured. */
  prepare?(): void;
  /** Does it once. It does not throw for a response that rejects it. */
  run(caller: HostileCaller): Promise<void>;
}

/** Sends a request of a hostile caller and returns its status; 0 when the connection is lost. */
export async function sendAs(
  { url, apiKey, signal }: HostileCaller,
  method: string,
  path: string,
  body?: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = { "content-type": "application/json" },
): Promise<{ status: number; text: string }> {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body === undefined ? {} : headers) },
      ...(body === undefined ? {} : { body }),
      signal,
    });
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: 0, text: "" };
  }
}

/** Runs `work` `count` times, `parallel` at a time. */
export async function repeatInParallel(
  count: number,
  parallel: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const runner = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(count, parallel) }, runner));
}
