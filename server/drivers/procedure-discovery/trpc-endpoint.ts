import { z } from "zod";
import type { IsolatedApp } from "../../../domain/ports/isolated-runtime.ts";
import { ask } from "./isolated-app.ts";
import { parseJson } from "../../../domain/shared/json.ts";

const ENDPOINTS = ["/trpc", "/api/trpc"] as const;

const failure = z.object({ code: z.int().negative() });
/** With a transformer, the error is inside `json`. */
const trpcError = z.object({ error: z.union([failure, z.object({ json: failure })]) });

/**
 * Where the app answers as a tRPC router does when it is asked for a procedure that does not exist. Without its
 * bindings an app may fail before it gets there; `certain` is then `false`.
 *
 * @throws {Unanswered}
 */
export async function findEndpoint(
  app: IsolatedApp,
  signal: AbortSignal,
): Promise<{ path: string; certain: boolean } | null> {
  const statuses: number[] = [];
  for (const path of ENDPOINTS) {
    const { status, text } = await ask(app, { path: `${path}/__probe__` }, signal);
    if (trpcError.safeParse(parseJson(text)).success) return { path, certain: true };
    statuses.push(status);
  }
  return statuses.every((status) => status >= 500) ? { path: ENDPOINTS[0], certain: false } : null;
}
