export interface RouteRequest {
  method: string;
  path: string;
  search: string;
  query: URLSearchParams;
  body: Buffer<ArrayBuffer>;
  form: FormData | null;
  contentType: string;
  token: string;
  /** Of the emulator. */
  origin: string;
}

export interface Reply {
  status: number;
  json?: unknown;
  bytes?: Uint8Array;
  headers?: Record<string, string>;
}

/** A response of Cloudflare's API that is an error. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export type Handler = (request: RouteRequest, ...segments: string[]) => Promise<Reply> | Reply;

/** Adds a route. The path has a colon for each segment that the handler gets. */
export type AddRoute = (method: string, path: string, handler: Handler) => void;

export const ok = (result: unknown, info?: object): Reply => ({
  status: 200,
  json: { success: true, errors: [], messages: [], result, ...(info && { result_info: info }) },
});
export const NO_SCRIPT = new ApiError(404, 10007, "This Worker does not exist on your account.");

export function find<T>(map: Map<string, T>, id: string, missing: ApiError = NO_SCRIPT): T {
  const found = map.get(id);
  if (found === undefined) throw missing;
  return found;
}

export function page(query: URLSearchParams, items: object[]): Reply {
  const [number, size] = [Number(query.get("page") ?? 1), Number(query.get("per_page") ?? 20)];
  return ok(items.slice((number - 1) * size, number * size), {
    page: number,
    per_page: size,
    total_count: items.length,
  });
}
