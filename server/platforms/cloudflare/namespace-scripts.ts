import { z } from "zod";
import { NoHandler, UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import { applyMasks } from "../../../domain/shared/secret-masks.ts";
import type { CloudflareBinding } from "./app-bindings.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import { CloudflareError, isMissing } from "./cloudflare-error.ts";

const binding = z.looseObject({ type: z.string(), name: z.string() });
const settings = z.object({
  bindings: z
    .array(binding)
    .nullish()
    .transform((bindings) => bindings ?? []),
  tags: z
    .array(z.string())
    .nullish()
    .transform((tags) => tags ?? []),
});
const listed = z.array(z.object({ id: z.string(), tags: z.array(z.string()).nullish() }));
const described = z.object({ script: z.object({ migration_tag: z.string().nullish() }) });
const anything = z.unknown();

export type ScriptSettings = z.output<typeof settings>;

/** Cloudflare's codes: the script was started for its validation and failed, or has no handler. */
const INVALID_SCRIPT = 10021;
const NO_HANDLERS = 10068;
/** What the runtime reports of a default export that is no handler. */
const NOT_A_HANDLER = /Incorrect type for map entry 'default'/;

/** What the service records about a script in its tags. */
export interface ScriptTags {
  appId: string;
  generation: number;
  /** Of the variables that the script has. */
  variablesVersion: number;
}

export function writeTags({ appId, generation, variablesVersion }: ScriptTags): string[] {
  return [appTag(appId), `generation-${generation}`, `variables-${variablesVersion}`];
}

function appTag(appId: string): string {
  return `app-${appId}`;
}

/** @returns `null` for a script that the service has not uploaded */
export function readTags(tags: readonly string[]): ScriptTags | null {
  const valueOf = (name: string) => tags.find((tag) => tag.startsWith(`${name}-`))?.slice(name.length + 1);
  const appId = valueOf("app");
  if (appId === undefined) return null;
  return {
    appId,
    generation: Number(valueOf("generation") ?? 0),
    variablesVersion: Number(valueOf("variables") ?? 0),
  };
}

/** The scripts of the dispatch namespace. */
export class NamespaceScripts {
  readonly #client: CloudflareClient;
  readonly #path: string;

  constructor(client: CloudflareClient, namespace: string) {
    this.#client = client;
    this.#path = `workers/dispatch/namespaces/${encodeURIComponent(namespace)}/scripts`;
  }

  path(script: string): string {
    return `${this.#path}/${script}`;
  }

  /** Returns whether the namespace exists. */
  async exists(): Promise<boolean> {
    const path = this.#path.replace(/\/scripts$/, "");
    const request = { operation: "read the dispatch namespace", method: "GET", path } as const;
    return (await this.#client.call(request, anything).catch(ignoreMissing)) !== null;
  }

  /** Returns the bindings and tags of a script; `null` if it does not exist. */
  async settings(script: string, signal?: AbortSignal): Promise<ScriptSettings | null> {
    const request = { operation: "read the settings of a script", method: "GET", signal } as const;
    return this.#client.call({ ...request, path: `${this.path(script)}/settings` }, settings).catch(ignoreMissing);
  }

  /** Returns the tag of the last migration of durable objects; `null` if there was none. */
  async migrationTag(script: string, signal: AbortSignal): Promise<string | null> {
    const request = { operation: "read a script", method: "GET", path: this.path(script), signal } as const;
    const found = await this.#client.call(request, described).catch(ignoreMissing);
    return found?.script.migration_tag ?? null;
  }

  /**
   * Uploads a script, which replaces the one with its name.
   *
   * @param masks - the secrets of the app, which its errors can contain
   * @throws {UnhealthyScript} with the reason, when the script does not start
   */
  async upload(
    script: string,
    body: FormData,
    { masks, signal }: { masks: readonly string[]; signal: AbortSignal },
  ): Promise<void> {
    const request = { operation: "upload a script", method: "PUT", path: this.path(script), body, signal } as const;
    await this.#client.call(request, anything).catch((error: unknown) => throwUnhealthy(error, masks));
  }

  /**
   * Replaces the bindings and tags of a script. Its code stays.
   *
   * @throws {UnhealthyScript} as `upload` does; the script then has its earlier bindings
   */
  async update(
    script: string,
    change: { bindings: readonly CloudflareBinding[]; tags: readonly string[]; migrations?: object },
    { masks, signal }: { masks: readonly string[]; signal: AbortSignal },
  ): Promise<void> {
    const body = new FormData();
    body.set("settings", JSON.stringify(change));
    const request = { operation: "change the settings of a script", method: "PATCH", body, signal } as const;
    await this.#client
      .call({ ...request, path: `${this.path(script)}/settings` }, anything)
      .catch((error: unknown) => throwUnhealthy(error, masks));
  }

  /** Removes a script with its durable objects. Succeeds if it does not exist. */
  async remove(script: string): Promise<void> {
    const request = {
      operation: "remove a script",
      method: "DELETE",
      path: this.path(script),
      query: { force: "true" },
    } as const;
    await this.#client.call(request, anything).catch(ignoreMissing);
  }

  /** Lists the scripts that the service has uploaded: all, or those of an app. */
  async list(appId?: string): Promise<({ name: string } & ScriptTags)[]> {
    const query: Record<string, string> = appId === undefined ? {} : { tags: `${appTag(appId)}:yes` };
    const request = { operation: "list scripts", method: "GET", path: this.#path, query } as const;
    const scripts = await this.#client.call(request, listed);
    return scripts.flatMap(({ id, tags }) => {
      const found = readTags(tags ?? []);
      return found === null || (appId !== undefined && found.appId !== appId) ? [] : [{ name: id, ...found }];
    });
  }
}

function throwUnhealthy(error: unknown, masks: readonly string[]): never {
  if (!(error instanceof CloudflareError) || error.isTransient) throw error;
  const reason = applyMasks(error.errors.map(({ message }) => message).join(" "), masks);
  if (error.hasCode(NO_HANDLERS) || NOT_A_HANDLER.test(reason))
    throw new NoHandler("The script exports no handler of requests (fetch).", { cause: error });
  if (error.hasCode(INVALID_SCRIPT)) throw new UnhealthyScript(reason, { cause: error, printed: [reason] });
  throw error;
}

function ignoreMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
