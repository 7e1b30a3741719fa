import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import type { RecordedRequest } from "../../support/cloudflare/emulator.ts";
import { openOnEmulator } from "../../support/cloudflare/open-on-emulator.ts";
import { writeUploadForm } from "../../support/edge/upload-form.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

// What wrangler sent when it deployed an app with the same bindings and files to a dispatch namespace.
const RECORDED = path.resolve(import.meta.dirname, "../../support/cloudflare/recorded-wrangler-requests.json");
const recordedSchema = z.object({
  requests: z.array(z.object({ method: z.string(), path: z.string(), contentType: z.string(), body: z.unknown() })),
});
const partsSchema = z.array(z.object({ name: z.string(), type: z.string().optional(), text: z.string() }));

const SCRIPT = `import { DurableObject } from "cloudflare:workers";
export class Room extends DurableObject {}
export default { fetch: () => new Response("hello") };`;
const BINDINGS = [
  { type: "plain_text", name: "GREETING", text: "hello" },
  { type: "kv_namespace", name: "KV", namespace_id: "1" },
  { type: "durable_object_namespace", name: "ROOM", class_name: "Room" },
  { type: "r2_bucket", name: "FILES", bucket_name: "files" },
  { type: "d1", name: "DB", id: "1" },
  { type: "assets", name: "ASSETS" },
];

interface Metadata {
  main_module: string;
  bindings: Record<string, unknown>[];
  migrations: { steps: object[] };
  assets: { config: object };
  [key: string]: unknown;
}

test("an app is uploaded with requests of the same form as wrangler's", async () => {
  await using t = await openOnEmulator();
  await using folder = await temporaryFolder();
  const assets = path.join(folder.path, "assets");
  await mkdir(assets);
  await writeFile(path.join(assets, "index.html"), "<h1>Guestbook</h1>\n");
  await writeFile(path.join(assets, "style.css"), "body{}\n");
  const form = path.join(folder.path, "bundle.form");
  const flags = { compatibilityFlags: ["nodejs_compat"], bindings: BINDINGS };
  const code = { runtime: "worker", scriptPath: await writeUploadForm(form, SCRIPT, flags) } as const;
  const rules = { not_found_handling: "single-page-application" } as const;
  const script = { appId: "app-1", generation: 1, databaseId: "db-1", code, assets: { directory: assets, rules } };
  await t.platform.scripts.publish("shop", script, AbortSignal.timeout(60_000));

  const { requests } = recordedSchema.parse(JSON.parse(await readFile(RECORDED, "utf8")));
  const [, session, files, upload] = requests;
  const ours = (method: string, end: string) =>
    t.emulator.requests.find((each) => each.method === method && each.path.endsWith(end)) as RecordedRequest;
  const oursSession = ours("POST", "shop/assets-upload-session");
  expect(pathOf(oursSession)).toBe(session?.path);
  expect(oursSession.contentType).toBe(session?.contentType);

  const oursFiles = ours("POST", "assets/upload");
  const theirs = partsSchema.parse(files?.body);
  const html = theirs.find(({ type }) => type?.startsWith("text/html"));
  const sent = [...(oursFiles.form ?? [])].map(([name, file]) => ({ name, file: file as File }));
  const same = sent.find(({ file }) => file.type === html?.type);
  expect([same?.name.length, await same?.file.text()]).toEqual([html?.name.length, html?.text]);

  const oursUpload = ours("PUT", "scripts/shop");
  expect(pathOf(oursUpload)).toBe(upload?.path);
  const [metadataPart, modulePart] = partsSchema.parse(upload?.body);
  const wrangler = JSON.parse(metadataPart?.text ?? "") as Metadata;
  const service = JSON.parse((oursUpload.form?.get("metadata") ?? "") as string) as Metadata;
  const shape = ({ bindings }: Metadata) => bindings.map((each) => Object.keys(each).toSorted().join()).toSorted();
  expect(shape(service)).toEqual(shape(wrangler));
  expect([service.main_module, service.migrations.steps, service.assets.config]).toEqual([
    wrangler.main_module,
    wrangler.migrations.steps,
    wrangler.assets.config,
  ]);
  const module = oursUpload.form?.get(service.main_module) as File;
  expect([module.name, module.type]).toEqual([modulePart?.name, modulePart?.type]);
  // Tags are those of the service. wrangler keeps secrets that were set in another way, and defers the update.
  const added = Object.keys(service).filter((key) => !(key in wrangler));
  const omitted = Object.keys(wrangler).filter((key) => !(key in service));
  expect([added, omitted.toSorted()]).toEqual([["tags"], ["code_update_strategy", "keep_bindings", "observability"]]);
});

/** With the name of the script of the recording. */
function pathOf({ path: target }: RecordedRequest): string {
  return target.replace("/shop", "/app-guestbook-k3x9");
}
