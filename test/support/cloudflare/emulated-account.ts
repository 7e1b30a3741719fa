import { randomUUID } from "node:crypto";
import { ApiError, find, type Handler, NO_SCRIPT, ok, type Reply, type RouteRequest } from "./api-reply.ts";
import { type DataState, EmulatedData } from "./emulated-data.ts";
import type { AccountState, EmulatedRuntime } from "./emulated-runtime.ts";
import { type EmulatedBinding, type EmulatedScript, newInstance, type ScriptMetadata } from "./emulated-script.ts";

interface Session {
  files: Map<string, string>;
  missing: Set<string>;
}

/** The emulated account: what exists in it, and its routes. The data is in the local explorer of Miniflare. */
export class EmulatedAccount {
  runtime!: EmulatedRuntime;
  readonly state: Omit<AccountState, keyof DataState> & DataState = {
    scripts: new Map(),
    workers: new Map(),
    databases: new Map(),
    namespaces: new Map(),
    buckets: new Map(),
  };
  /** Whether a migration without classes is a migration. */
  acceptsEmptyMigrations = true;
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
    on("GET", scripts, ({ query }) => {
      const tag = query.get("tags")?.replace(/:yes$/, "") ?? null;
      const all = [...this.state.scripts].map(([id, script]) => ({ id, tags: script.metadata.tags ?? [] }));
      return ok(all.filter(({ tags }) => tag === null || tags.includes(tag)));
    });
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
    const dataRoutes = {
      on,
      runtime: () => this.runtime,
      state: this.state,
      noteChange: () => this.runtime.noteChange("data"),
    };
    new EmulatedData(dataRoutes).addRoutes();
  }

  /** Uploads of files have a token of their own. */
  acceptsToken({ path, token }: RouteRequest, apiToken: string): boolean {
    // A signed URL of another server, which must not get the token of the API.
    if (path.startsWith("/uploads/")) return token === "";
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
    const metadata = JSON.parse(textOf(form, "metadata")) as ScriptMetadata;
    const earlier = map.get(name);
    const modules: EmulatedScript["modules"] = new Map();
    for (const [part, value] of form ?? [])
      if (value instanceof File)
        modules.set(part, {
          type: value.type.split(";")[0] ?? "",
          contents: new Uint8Array(await value.arrayBuffer()),
        });
    const { migrations } = metadata;
    this.#requireMigration(migrations, earlier);
    const { classes, hasDeleted } = migrate(earlier?.classes ?? [], migrations?.steps ?? []);
    this.#requireResources(metadata.bindings, classes);
    const script: EmulatedScript = {
      // Objects of a class that was deleted are not in another instance.
      instance: earlier === undefined || hasDeleted ? newInstance(name) : earlier.instance,
      metadata,
      modules,
      files: metadata.assets === undefined ? new Map() : this.#files(metadata.assets.jwt),
      migrationTag: migrations?.new_tag ?? earlier?.migrationTag ?? null,
      classes,
    };
    await this.#validate(script);
    map.set(name, script);
    this.runtime.noteChange("scripts");
    return ok({ id: name, startup_time_ms: 3 });
  }

  #requireMigration(migrations: ScriptMetadata["migrations"], earlier: EmulatedScript | undefined): void {
    if (migrations === undefined) return;
    if (migrations.steps.length === 0 && !this.acceptsEmptyMigrations)
      throw new ApiError(400, 10021, "a migration must have steps");
    if ((migrations.old_tag ?? null) !== (earlier?.migrationTag ?? null))
      throw new ApiError(412, 10079, "migration tag precondition failed");
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
    const change = JSON.parse(textOf(form, "settings")) as Pick<ScriptMetadata, "migrations"> & {
      bindings: EmulatedBinding[];
      tags: string[];
    };
    this.#requireMigration(change.migrations, script);
    const bindings = change.bindings.map((binding) => {
      if (binding.type !== "inherit") return binding;
      const inherited = script.metadata.bindings.find(({ name }) => name === binding.name);
      if (inherited === undefined) throw new ApiError(400, 10056, `cannot inherit ${binding.name}`);
      return inherited;
    });
    const metadata = { ...script.metadata, bindings, tags: change.tags };
    await this.#validate({ ...script, metadata });
    script.metadata = metadata;
    script.migrationTag = change.migrations?.new_tag ?? script.migrationTag;
    this.runtime.noteChange("scripts");
    return ok(settingsOf(script));
  }

  #remove(map: Map<string, unknown>, id: string, missing: ApiError): Reply {
    if (!map.delete(id)) throw missing;
    this.runtime.noteChange("scripts");
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
}

/** Applies the steps of a migration of durable objects. */
function migrate(existing: readonly string[], steps: NonNullable<ScriptMetadata["migrations"]>["steps"]) {
  const classes = new Set(existing);
  for (const { deleted_classes: deleted = [], new_sqlite_classes: added = [] } of steps) {
    for (const name of deleted) if (!classes.delete(name)) throw new ApiError(400, 10074, `there is no class ${name}`);
    for (const name of added) {
      if (classes.has(name)) throw new ApiError(400, 10074, `the class ${name} exists already`);
      classes.add(name);
    }
  }
  return { classes: [...classes], hasDeleted: steps.some(({ deleted_classes: deleted }) => deleted !== undefined) };
}

/** The texts of secrets are never returned. */
function settingsOf({ metadata: { bindings, tags = [] } }: EmulatedScript): object {
  return {
    tags,
    bindings: bindings.map((each) => (each.type === "secret_text" ? { type: each.type, name: each.name } : each)),
  };
}

function textOf(form: FormData | null, name: string): string {
  const value = form?.get(name);
  return typeof value === "string" ? value : "";
}
