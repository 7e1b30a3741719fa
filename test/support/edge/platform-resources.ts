import path from "node:path";
import type { App } from "../../../domain/apps/app.entity.ts";
import {
  artifactBucketName,
  deploymentLogKey,
  LOG_BUCKET,
  sourceBucketName,
  sqlDatabaseId,
} from "../../../domain/apps/app-resources.ts";
import type { AppPlatform } from "../../../domain/deployments/release-resources.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type FormOptions, writeUploadForm } from "./upload-form.ts";

/** The names of the resources that an app with one deployment still has at the platform. */
export async function resourcesOf(platform: AppPlatform, app: { id: string; slug: string }): Promise<string[]> {
  const { edge, databases, authEntries, objects } = platform;
  const buckets = await objects.listBuckets();
  const exists = {
    script: (await edge.list()).some(({ slug }) => slug === app.slug),
    database: (await databases.list()).includes(sqlDatabaseId(app.id)),
    "auth entry": (await authEntries.list()).includes(app.id),
    sources: buckets.includes(sourceBucketName(app.id)),
    artifacts: buckets.includes(artifactBucketName(app.id)),
    log: (await objects.get(LOG_BUCKET, deploymentLogKey(app.id, 1))) !== null,
  };
  return Object.entries(exists).flatMap(([name, found]) => (found ? [name] : []));
}

export const ALL_RESOURCES = ["script", "database", "auth entry", "sources", "artifacts", "log"];

const SCRIPT = `export default { fetch: () => new Response("hello") };`;

/** Creates every resource that a deployment creates for an app. */
export async function provision(
  platform: AppPlatform,
  app: App,
  script: string = SCRIPT,
  form: FormOptions = {},
): Promise<void> {
  const bytes = (text: string) => new TextEncoder().encode(text);
  await using folder = await temporaryFolder();
  const scriptPath = await writeUploadForm(path.join(folder.path, "bundle.form"), script, form);
  const databaseId = sqlDatabaseId(app.id);
  await platform.databases.create(databaseId);
  await platform.objects.put(sourceBucketName(app.id), "src/index.ts", bytes(script));
  await platform.objects.put(artifactBucketName(app.id), "1/script.form", bytes(script));
  await platform.objects.put(LOG_BUCKET, deploymentLogKey(app.id, 1), bytes("built\n"));
  await platform.authEntries.put({ appId: app.id, tokenSha256: "0".repeat(64) });
  const published = {
    appId: app.id,
    generation: 1,
    code: { runtime: "worker", scriptPath } as const,
    assets: null,
    databaseId,
  };
  await platform.edge.publish(app.slug, published, AbortSignal.timeout(30_000));
}

/**
 * A port whose named operation fails the given number of times before it works. Its other operations work.
 *
 * @param first - limits the failures to calls with this first argument
 */
export function failing<P extends object>(
  port: P,
  operation: keyof P & string,
  times: number,
  first?: string,
): P & { failures: number } {
  let remaining = times;
  let failures = 0;
  return new Proxy(port, {
    get(target, name) {
      if (name === "failures") return failures;
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return async (...args: unknown[]) => {
        if (name === operation && (first === undefined || args[0] === first) && remaining-- > 0) {
          failures += 1;
          throw new Error(`the provider responded with 500 to ${operation}`);
        }
        return (member as (...args: unknown[]) => unknown).apply(target, args);
      };
    },
  }) as P & { failures: number };
}
