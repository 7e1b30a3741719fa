import { randomBytes, randomUUID } from "node:crypto";
import type { AccountState, EmulatedRuntime, Statement } from "./emulated-runtime.ts";
import { type EmulatedBinding, type EmulatedScript, newInstance, type ScriptMetadata } from "./emulated-script.ts";

export interface RouteRequest {
  method: string;
  path: string;
  search: string;
  query: URLSearchParams;
  body: Buffer<ArrayBuffer>;
  form: FormData | null;
  contentType: string;
  token: string;
}

export interface Reply {
  status: number;
  json?: unknown;
  bytes?: Uint8Array;
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

type Handler = (request: RouteRequest, ...segments: string[]) => Promise<Reply> | Reply;

interface Session {
  files: Map<string, string>;
  missing: Set<string>;
}

const ok = (result: unknown, info?: object): Reply => ({
  status: 200,
  json: { success: true, errors: [], messages: [], result, ...(info && { result_info: info }) },
});
const NO_SCRIPT = new ApiError(404, 10007, "This Worker does not exist on your account.");

/** The emulated account: what exists in it, and its routes. The data is in the local explorer of Miniflare. */
export class EmulatedAccount {
  runtime!: EmulatedRuntime;
  readonly state: Omit<AccountState, "databases" | "namespaces"> & {
    databases: Map<string, { name: string }>;
    namespaces: Map<string, { title: string }>;
  } = { scripts: new Map(), workers: new Map(), databases: new Map(), namespaces: new Map(), buckets: new Map() };
  readonly #sessions = new Map<string, Session>();
  readonly #assets = new Map<string, Uint8Array>();
  readonly #routes: [string, RegExp, Handler][] = [];

  constructor() {
    const segment = "([^/]+)";
    const on = (method: string, path: string, handler: Handler) =>
      this.#routes.push([method, new RegExp(`^${path.replaceAll(":", segment)}$`), handler]);
    const namespace = "workers/dispatch/namespaces/apps";
    const scripts = `${namespace}/scripts`;
    on("GET", namespace, () => ok({ namespace_id: "1", namespace_name: "apps" }));
    on("GET", scripts, () =>
      ok([...this.state.scripts].map(([id, script]) => ({ id, tags: script.metadata.tags ?? [] }))),
    );
    for (const [path, map] of [
      [`${scripts}/:`, this.state.scripts],
      ["workers/scripts/:", this.state.workers],
    ] as const) {
      on("PUT", path, (request, name) => this.#upload(map, name, request));
      on("GET", path, (_, name) => ok({ script: { id: name, migration_tag: find(map, name).migrationTag } }));
      on("GET", `${path}/settings`, (_, name) => ok(settingsOf(find(map, name))));
      on("PATCH", `${path}/settings`, (request, name) => this.#patch(find(map, name), request));
      on("DELETE", path, (_, name) => this.#remove(map, name, NO_SCRIPT));
    }
    on("POST", `${scripts}/:/assets-upload-session`, (request) => this.#beginUpload(request));
    on("POST", "workers/assets/upload", (request) => this.#uploadAssets(request));
    this.#addDatabases(on);
    this.#addNamespaces(on);
    this.#addBuckets(on);
  }

  /** Uploads of files have a token of their own. */
  acceptsToken({ path, token }: RouteRequest, apiToken: string): boolean {
    return path === "workers/assets/upload" ? this.#sessions.has(token) : token === apiToken;
  }

  /** @returns `null` for an unknown route */
  async handle(request: RouteRequest): Promise<Reply | null> {
    for (const [method, pattern, handler] of this.#routes) {
      const match = method === request.method ? pattern.exec(request.path) : null;
      if (match !== null) return handler(request, ...match.slice(1).map(decodeURIComponent));
    }
    return null;
  }

  async #upload(map: Map<string, EmulatedScript>, name: string, { form }: RouteRequest): Promise<Reply> {
    const metadata = JSON.parse(String(form?.get("metadata"))) as ScriptMetadata;
    const earlier = map.get(name);
    const modules: EmulatedScript["modules"] = new Map();
    for (const [part, value] of form ?? [])
      if (value instanceof File)
        modules.set(part, {
          type: value.type.split(";")[0] ?? "",
          contents: new Uint8Array(await value.arrayBuffer()),
        });
    const { migrations } = metadata;
    if (migrations !== undefined && (migrations.old_tag ?? null) !== (earlier?.migrationTag ?? null))
      throw new ApiError(412, 10079, "migration tag precondition failed");
    const classes = [
      ...(earlier?.classes ?? []),
      ...(migrations?.steps.flatMap((step) => step.new_sqlite_classes) ?? []),
    ];
    this.#requireResources(metadata.bindings, classes);
    const script: EmulatedScript = {
      instance: earlier?.instance ?? newInstance(name),
      metadata,
      modules,
      files: metadata.assets === undefined ? new Map() : this.#files(metadata.assets.jwt),
      migrationTag: migrations?.new_tag ?? earlier?.migrationTag ?? null,
      classes,
    };
    await this.#validate(script);
    map.set(name, script);
    this.runtime.noteChange();
    return ok({ id: name, startup_time_ms: 3 });
  }

  #requireResources(bindings: readonly EmulatedBinding[], classes: readonly string[]): void {
    const { databases, namespaces, buckets } = this.state;
    const exists = (map: Map<string, unknown>, id: unknown) => map.has(String(id));
    for (const binding of bindings) {
      const isKnown =
        (binding.type !== "d1" || exists(databases, binding["id"])) &&
        (binding.type !== "kv_namespace" || exists(namespaces, binding["namespace_id"])) &&
        (binding.type !== "r2_bucket" || exists(buckets, binding["bucket_name"])) &&
        (binding.type !== "durable_object_namespace" || classes.includes(String(binding["class_name"])));
      if (!isKnown) throw new ApiError(400, 10041, `binding ${binding.name} refers to something that does not exist`);
    }
  }

  async #validate(script: EmulatedScript): Promise<void> {
    const problem = await this.runtime.validate(script);
    if (problem !== null && /internal error; reference|not a handler/.test(problem))
      throw new ApiError(400, 10068, "The uploaded script has no registered event handlers.");
    if (problem !== null) throw new ApiError(400, 10021, problem);
  }

  async #patch(script: EmulatedScript, { form }: RouteRequest): Promise<Reply> {
    const change = JSON.parse(String(form?.get("settings"))) as { bindings: EmulatedBinding[]; tags: string[] };
    const bindings = change.bindings.map((binding) => {
      if (binding.type !== "inherit") return binding;
      const inherited = script.metadata.bindings.find(({ name }) => name === binding.name);
      if (inherited === undefined) throw new ApiError(400, 10056, `cannot inherit ${binding.name}`);
      return inherited;
    });
    const metadata = { ...script.metadata, bindings, tags: change.tags };
    await this.#validate({ ...script, metadata });
    script.metadata = metadata;
    this.runtime.noteChange();
    return ok(settingsOf(script));
  }

  #remove(map: Map<string, unknown>, id: string, missing: ApiError): Reply {
    if (!map.delete(id)) throw missing;
    this.runtime.noteChange();
    return ok(null);
  }

  #beginUpload({ body }: RouteRequest): Reply {
    const { manifest } = JSON.parse(body.toString()) as { manifest: Record<string, { hash: string; size: number }> };
    const files = new Map(Object.entries(manifest).map(([name, { hash }]) => [name, hash]));
    const missing = new Set([...files.values()].filter((hash) => !this.#assets.has(hash)));
    const jwt = `session-${randomUUID()}`;
    this.#sessions.set(jwt, { files, missing });
    return ok({ jwt, buckets: [...missing].map((hash) => [hash]) });
  }

  async #uploadAssets({ form, token }: RouteRequest): Promise<Reply> {
    const session = this.#sessions.get(token);
    for (const [hash, part] of form ?? []) {
      this.#assets.set(hash, Buffer.from(await (part as File).text(), "base64"));
      session?.missing.delete(hash);
    }
    return session?.missing.size === 0 ? { ...ok({ jwt: token, buckets: null }), status: 201 } : ok({ jwt: null });
  }

  #files(jwt: string): Map<string, Uint8Array> {
    const session = this.#sessions.get(jwt);
    if (session === undefined || session.missing.size > 0) throw new ApiError(400, 10134, "the upload is not complete");
    return new Map(
      [...session.files].map(([name, hash]) => [name.slice(1), this.#assets.get(hash) ?? new Uint8Array()]),
    );
  }

  #addDatabases(on: (method: string, path: string, handler: Handler) => void): void {
    const { databases } = this.state;
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
      this.runtime.noteChange();
      return ok({ uuid, name });
    });
    on("GET", "d1/database/:", (_, uuid) => ok({ uuid, name: find(databases, uuid, missing).name, file_size: 12_288 }));
    on("DELETE", "d1/database/:", (_, uuid) => this.#remove(databases, uuid, missing));
    on("POST", "d1/database/:/raw", (request, uuid) => (find(databases, uuid, missing), this.#raw(request)));
    on("POST", "d1/database/:/query", async ({ body }, uuid) => {
      find(databases, uuid, missing);
      const { batch, ...single } = JSON.parse(body.toString()) as Statement & { batch?: Statement[] };
      try {
        return ok(await this.runtime.runBatch(uuid, batch ?? [single]));
      } catch (error) {
        throw new ApiError(400, 7500, error instanceof Error ? error.message : "failed");
      }
    });
  }

  async #raw({ path, body }: RouteRequest): Promise<Reply> {
    const headers = { "content-type": "application/json" };
    const reply = await this.runtime.explore(path, { method: "POST", headers, body });
    const json = JSON.parse(reply.body.toString()) as { errors: { message: string }[] };
    if (reply.status !== 200) throw new ApiError(400, 7500, json.errors.map(({ message }) => message).join(" "));
    return { status: 200, json };
  }

  #addNamespaces(on: (method: string, path: string, handler: Handler) => void): void {
    const { namespaces } = this.state;
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
      this.runtime.noteChange();
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

  #addBuckets(on: (method: string, path: string, handler: Handler) => void): void {
    const { buckets } = this.state;
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
      this.runtime.noteChange();
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
    const reply = await this.runtime.explore(`${path}${search}`, {
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

function find<T>(map: Map<string, T>, id: string, missing: ApiError = NO_SCRIPT): T {
  const found = map.get(id);
  if (found === undefined) throw missing;
  return found;
}

/** The texts of secrets are never returned. */
function settingsOf({ metadata: { bindings, tags = [] } }: EmulatedScript): object {
  return {
    tags,
    bindings: bindings.map((each) => (each.type === "secret_text" ? { type: each.type, name: each.name } : each)),
  };
}

function page(query: URLSearchParams, items: object[]): Reply {
  const [number, size] = [Number(query.get("page") ?? 1), Number(query.get("per_page") ?? 20)];
  return ok(items.slice((number - 1) * size, number * size), {
    page: number,
    per_page: size,
    total_count: items.length,
  });
}
