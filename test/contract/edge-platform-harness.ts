import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { AssetRules } from "../../domain/ports/bundler.ts";
import type { EdgePlatform, Script } from "../../domain/ports/edge-platform.ts";
import type { SqlDatabases } from "../../domain/ports/sql-databases.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { TestVariables } from "../support/edge/test-variables.ts";
import { type FormOptions, writeUploadForm } from "../support/edge/upload-form.ts";

/** A platform with its databases, and a client of its apps. */
export interface EdgePlatformHarness extends AsyncDisposable {
  platform: EdgePlatform;
  databases: SqlDatabases;
  variables: TestVariables;
  request(slug: string, target?: string): Promise<{ status: number; text: string }>;
}

/** What not every platform has. */
export interface EdgePlatformFeatures {
  /** Whether it gets what apps print. */
  readsOutput: boolean;
  /** Whether the tests can exceed the memory of one app. The emulator of Cloudflare runs all in one process. */
  limitsMemory: boolean;
}

export const KV = { type: "kv_namespace", name: "KV", namespace_id: "notes" };
export const D1 = { type: "d1", name: "DB", id: "anything" };

/** A script that responds to every request with one text. */
export function respondingWith(text: string): string {
  return `export default { fetch: () => new Response(${JSON.stringify(text)}) }`;
}

interface Publication extends FormOptions, Partial<Omit<Script, "assets" | "code">> {
  slug?: string;
  files?: Record<string, string>;
  rules?: AssetRules;
  signal?: AbortSignal;
}

/** A harness with a folder for the files of publications. */
export async function openWithSources(open: () => Promise<EdgePlatformHarness>) {
  await using opening = new AsyncDisposableStack();
  const harness = opening.use(await open());
  const folder = opening.use(await temporaryFolder());
  const stack = opening.move();
  const sources = path.join(folder.path, "sources");
  return {
    ...harness,
    async publish(script: string, publication: Publication = {}) {
      const { slug = "shop", files, rules = {}, signal = AbortSignal.timeout(60_000) } = publication;
      await mkdir(sources, { recursive: true });
      const scriptPath = await writeUploadForm(path.join(sources, "bundle.form"), script, publication);
      const assets = files ? { directory: await writeFiles(path.join(sources, "assets"), files), rules } : null;
      const { appId = "app-1", generation = 1, databaseId = "db-1" } = publication;
      return harness.platform.publish(
        slug,
        { appId, generation, databaseId, code: { runtime: "worker", scriptPath }, assets },
        signal,
      );
    },
    removeSources: () => rm(sources, { recursive: true }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function writeFiles(directory: string, files: Record<string, string>): Promise<string> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(directory, name)), { recursive: true });
    await writeFile(path.join(directory, name), content);
  }
  return directory;
}
