import { z } from "zod";
import type { IsolatedApp } from "../../../domain/ports/isolated-runtime.ts";
import { parseJson } from "../../../domain/shared/json.ts";
import { requestApp } from "./request-app.ts";

export interface TrpcEndpoint {
  path: string;
  /** `false` when the app failed at every path, so that the first one is assumed. */
  isCertain: boolean;
}

const PATHS = ["/trpc", "/api/trpc"] as const;

const errorShape = z.object({ code: z.int().negative() });
/** With a transformer, the error is inside `json`. */
const trpcError = z.object({ error: z.union([errorShape, z.object({ json: errorShape })]) });

/**
 * Finds the path at which the app responds like a tRPC router to a request for an unknown procedure. Without its
 * bindings an app may fail before its router handles the request.
 *
 * @throws {AppResponseError}
 */
export async function findTrpcEndpoint(app: IsolatedApp, signal: AbortSignal): Promise<TrpcEndpoint | null> {
  const statuses: number[] = [];
  for (const path of PATHS) {
    const { status, text } = await requestApp(app, { path: `${path}/__probe__` }, signal);
    if (trpcError.safeParse(parseJson(text)).success) return { path, isCertain: true };
    statuses.push(status);
  }
  return statuses.every((status) => status >= 500) ? { path: PATHS[0], isCertain: false } : null;
}
