import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { App } from "../../../domain/apps/app.entity.ts";
import { databaseIdOf, LOG_BUCKET, logKeyOf, sourceBucketOf } from "../../../domain/apps/app-resources.ts";
import type { AppPlatform } from "../../../domain/deployments/release-resources.ts";
import { writeUploadForm } from "./upload-form.ts";

/** What of an app is left at the platform, by name. */
export async function resourcesOf(platform: AppPlatform, app: { id: string; slug: string }): Promise<string[]> {
  const { edge, databases, authEntries, objects } = platform;
  const left = {
    script: (await edge.list()).some(({ slug }) => slug === app.slug),
    database: (await databases.list()).includes(databaseIdOf(app.id)),
    "auth entry": (await authEntries.list()).includes(app.id),
    sources: (await objects.listBuckets()).includes(sourceBucketOf(app.id)),
    log: (await objects.get(LOG_BUCKET, logKeyOf(app.id))) !== null,
  };
  return Object.entries(left).flatMap(([name, there]) => (there ? [name] : []));
}

export const ALL_RESOURCES = ["script", "database", "auth entry", "sources", "log"];

const SCRIPT = `export default { fetch: () => new Response("hello") };`;

/** Makes all that a deploy makes for an app. */
export async function provision(platform: AppPlatform, app: App, script: string = SCRIPT): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "bundle-"));
  try {
    const scriptPath = await writeUploadForm(path.join(directory, "bundle.form"), script);
    await platform.databases.create(databaseIdOf(app.id));
    await platform.objects.put(sourceBucketOf(app.id), "src/index.ts", new TextEncoder().encode(script));
    await platform.objects.put(LOG_BUCKET, logKeyOf(app.id), new TextEncoder().encode("built\n"));
    await platform.authEntries.put({ appId: app.id, tokenSha256: "0".repeat(64) });
    const published = { appId: app.id, generation: 1, scriptPath, assets: null, databaseId: databaseIdOf(app.id) };
    await platform.edge.publish(app.slug, published, AbortSignal.timeout(30_000));
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** `port` as it is, but for the named operation, which fails as often as `times` says before it works. */
export function failing<P extends object>(
  port: P,
  operation: keyof P & string,
  times: number,
): P & { failures: number } {
  let left = times;
  let failures = 0;
  return new Proxy(port, {
    get(target, name) {
      if (name === "failures") return failures;
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return async (...given: unknown[]) => {
        if (name === operation && left-- > 0) {
          failures += 1;
          throw new Error(`the provider answered 500 to ${operation}`);
        }
        return (member as (...args: unknown[]) => unknown).apply(target, given);
      };
    },
  }) as P & { failures: number };
}
