import { createHash, randomBytes, randomUUID } from "node:crypto";
import { type AddRoute, ApiError, find, ok, page, type Reply, type RouteRequest } from "./api-reply.ts";
import type { EmulatedRuntime, Statement } from "./emulated-runtime.ts";

export interface DataState {
  /** By Cloudflare's id. */
  databases: Map<string, { name: string }>;
  namespaces: Map<string, { title: string }>;
  /** By name. */
  buckets: Map<string, unknown>;
}

interface EmulatedDataOptions {
  on: AddRoute;
  state: DataState;
  runtime: () => EmulatedRuntime;
  noteChange: () => void;
}

/** The routes for databases, keys and objects. */
export class EmulatedData {
  readonly #options: EmulatedDataOptions;
  /** Files for imports by their MD5. */
  readonly #uploads = new Map<string, string>();
  /** The result of the last import into a database. */
  readonly #imports = new Map<string, object>();

  constructor(options: EmulatedDataOptions) {
    this.#options = options;
  }

  addRoutes(): void {
    const { on } = this.#options;
    this.#addDatabases(on);
    this.#addNamespaces(on);
    this.#addBuckets(on);
  }

  #remove(map: Map<string, unknown>, id: string, missing: ApiError): Reply {
    if (!map.delete(id)) throw missing;
    this.#options.noteChange();
    return ok(null);
  }

  #addDatabases(on: AddRoute): void {
    const { databases } = this.#options.state;
    const missing = new ApiError(404, 7404, "The database was not found.");
    on("GET", "d1/database", ({ query }) =>
      page(
        query,
        [...databases]
          .filter(([, { name }]) => name.includes(query.get("name") ?? ""))
          .map(([uuid, { name }]) => ({ uuid, name })),
      ),
    );
    on("POST", "d1/database", ({ body }) => {
      const { name } = JSON.parse(body.toString()) as { name: string };
      if ([...databases.values()].some((each) => each.name === name)) throw new ApiError(400, 7502, "exists already");
      const uuid = randomUUID();
      databases.set(uuid, { name });
      this.#options.noteChange();
      return ok({ uuid, name });
    });
    on("GET", "d1/database/:", (_, uuid) => ok({ uuid, name: find(databases, uuid, missing).name, file_size: 12_288 }));
    on("DELETE", "d1/database/:", (_, uuid) => this.#remove(databases, uuid, missing));
    on("POST", "d1/database/:/raw", (request, uuid) => (find(databases, uuid, missing), this.#raw(request)));
    on(
      "POST",
      "d1/database/:/import",
      (request, uuid) => (find(databases, uuid, missing), this.#import(request, uuid)),
    );
    on("PUT", "/uploads/:", ({ body }, etag) => {
      if (createHash("md5").update(body).digest("hex") !== etag) throw new ApiError(400, 0, "not the announced file");
      this.#uploads.set(etag, body.toString());
      return { status: 200, json: {}, headers: { etag: `"${etag}"` } };
    });
    on("POST", "d1/database/:/query", async ({ body }, uuid) => {
      find(databases, uuid, missing);
      const { batch, ...single } = JSON.parse(body.toString()) as Statement & { batch?: Statement[] };
      try {
        return ok(await this.#options.runtime().runBatch(uuid, batch ?? [single]));
      } catch (error) {
        throw new ApiError(400, 7500, error instanceof Error ? error.message : "failed");
      }
    });
  }

  /** A file that was uploaded is imported without another upload, as its import can have been interrupted. */
  async #import({ body, origin }: RouteRequest, uuid: string): Promise<Reply> {
    const { action, etag = "" } = JSON.parse(body.toString()) as { action: string; etag?: string };
    const sql = this.#uploads.get(etag);
    if (action === "init" && sql === undefined)
      return ok({ success: true, filename: etag, upload_url: `${origin}/uploads/${etag}` });
    if (action === "poll")
      return ok({ success: true, ...(this.#imports.get(uuid) ?? { status: "error", error: "none" }) });
    if (sql === undefined) throw new ApiError(400, 7500, "the file was not uploaded");
    const statements = sql.split("\n;\n").filter((each) => each.trim() !== "");
    const outcome = await this.#options
      .runtime()
      .runBatch(
        uuid,
        statements.map((each) => ({ sql: each })),
      )
      .then(
        () => ({ status: "complete" }),
        (error: unknown) => ({ status: "error", error: (error as Error).message }),
      );
    this.#imports.set(uuid, outcome);
    return ok({ success: true, status: "active", at_bookmark: "1", messages: [] });
  }

  async #raw({ path, body }: RouteRequest): Promise<Reply> {
    const headers = { "content-type": "application/json" };
    const reply = await this.#options.runtime().explore(path, { method: "POST", headers, body });
    const json = JSON.parse(reply.body.toString()) as { errors: { message: string }[] };
    if (reply.status !== 200) throw new ApiError(400, 7500, json.errors.map(({ message }) => message).join(" "));
    return { status: 200, json };
  }

  #addNamespaces(on: AddRoute): void {
    const { namespaces } = this.#options.state;
    const missing = new ApiError(404, 10013, "namespace not found");
    on("GET", "storage/kv/namespaces", ({ query }) =>
      page(
        query,
        [...namespaces].map(([id, { title }]) => ({ id, title })),
      ),
    );
    on("POST", "storage/kv/namespaces", ({ body }) => {
      const { title } = JSON.parse(body.toString()) as { title: string };
      if ([...namespaces.values()].some((each) => each.title === title)) throw new ApiError(400, 10014, "title exists");
      const id = randomBytes(16).toString("hex");
      namespaces.set(id, { title });
      this.#options.noteChange();
      return ok({ id, title });
    });
    on("DELETE", "storage/kv/namespaces/:", (_, id) => this.#remove(namespaces, id, missing));
    for (const [method, rest] of [
      ["GET", "keys"],
      ["POST", "bulk/get"],
      ["GET", "values/:"],
      ["PUT", "values/:"],
      ["DELETE", "values/:"],
    ] as const)
      on(
        method,
        `storage/kv/namespaces/:/${rest}`,
        (request, id) => (find(namespaces, id, missing), this.#explore(request)),
      );
  }

  #addBuckets(on: AddRoute): void {
    const { buckets } = this.#options.state;
    const missing = new ApiError(404, 10006, "The specified bucket does not exist.");
    on("GET", "r2/buckets", ({ query }) =>
      ok({
        buckets: [...buckets.keys()]
          .filter((name) => name.includes(query.get("name_contains") ?? ""))
          .map((name) => ({ name })),
      }),
    );
    on("POST", "r2/buckets", ({ body }) => {
      const { name } = JSON.parse(body.toString()) as { name: string };
      if (!/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(name)) throw new ApiError(400, 10005, "invalid name");
      if (buckets.has(name)) throw new ApiError(409, 10004, "exists already");
      buckets.set(name, {});
      this.#options.noteChange();
      return ok({ name });
    });
    on("GET", "r2/buckets/:", (_, name) => (find(buckets, name, missing), ok({ name })));
    on(
      "GET",
      "r2/buckets/:/usage",
      (_, name) => (find(buckets, name, missing), ok({ payloadSize: "5", metadataSize: "1" })),
    );
    on("DELETE", "r2/buckets/:", async (request, name) => {
      find(buckets, name, missing);
      const { json } = await this.#explore({
        ...request,
        method: "GET",
        path: `r2/buckets/${name}/objects`,
        search: "",
      });
      if ((json as { result: unknown[] }).result.length > 0) throw new ApiError(409, 10008, "The bucket is not empty.");
      return this.#remove(buckets, name, missing);
    });
    on("GET", "r2/buckets/:/objects", (request, name) => (find(buckets, name, missing), this.#explore(request)));
    on("GET", "r2/buckets/:/objects/:", (request, name) => (find(buckets, name, missing), this.#explore(request)));
    on("DELETE", "r2/buckets/:/objects/:", (request, name, key) => {
      find(buckets, name, missing);
      const body = Buffer.from(JSON.stringify([key]));
      return this.#explore({ ...request, path: `r2/buckets/${name}/objects`, contentType: "application/json", body });
    });
  }

  async #explore({ method, path, search, body, contentType }: RouteRequest): Promise<Reply> {
    const hasBody = body.length > 0;
    const reply = await this.#options.runtime().explore(`${path}${search}`, {
      method,
      headers: { "content-type": contentType },
      ...(hasBody ? { body } : {}),
    });
    const isValue = method === "GET" && /\/(values|objects)\//.test(path) && reply.status === 200;
    return isValue
      ? { status: 200, bytes: reply.body }
      : { status: reply.status, json: JSON.parse(reply.body.toString()) };
  }
}
