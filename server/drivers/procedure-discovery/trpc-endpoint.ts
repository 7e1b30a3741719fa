import { z } from "zod";
import type { IsolatedApp } from "../../ports/isolated-runtime.ts";
import { parseJson } from "../../../domain/shared/json.ts";
import { requestApp } from "./request-app.ts";

export interface TrpcEndpoint {
  path: string;
  /** `false` when the app failed at every path, so that the first one is assumed. */
  isCertain: boolean;
}

const USUAL_PATHS = ["/trpc", "/api/trpc"];
/** tRPC's own HTTP server has no path of its own. */
const ROOT = "";

/** `path` is the name of the procedure, unless the app formats its errors itself. */
const errorShape = z.object({
  code: z.int().negative(),
  data: z
    .object({ path: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
const UNKNOWN_PROCEDURE = "__probe__";
/** With a transformer, the error is inside `json`. */
const trpcError = z.object({ error: z.union([errorShape, z.object({ json: errorShape })]) });

/**
 * Finds the path at which the app responds like a tRPC router to a request for an unknown procedure. Without its
 * bindings an app may fail before its router handles the request.
 *
 * @param otherPaths - tried after the usual ones
 * @throws {AppResponseError}
 */
export async function findTrpcEndpoint(
  app: IsolatedApp,
  otherPaths: readonly string[],
  signal: AbortSignal,
): Promise<TrpcEndpoint | null> {
  const statuses: number[] = [];
  for (const path of new Set([...USUAL_PATHS, ...otherPaths, ROOT])) {
    const { status, text } = await requestApp(app, { path: `${path}/${UNKNOWN_PROCEDURE}` }, signal);
    if (isTrpcError(parseJson(text))) return { path, isCertain: true };
    statuses.push(status);
  }
  return statuses.every((status) => status >= 500) ? { path: "/trpc", isCertain: false } : null;
}

/** A router at the root of the app takes the whole path for the name. */
function isTrpcError(body: unknown): boolean {
  const { data } = trpcError.safeParse(body);
  if (data === undefined) return false;
  const shape = "json" in data.error ? data.error.json : data.error;
  return shape.data?.path === undefined || shape.data.path === UNKNOWN_PROCEDURE;
}
