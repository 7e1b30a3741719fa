import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import send from "@fastify/send";
import { z } from "zod";
import { nullIfMissing } from "../../files/missing-file.ts";
import type { AssetRules } from "../../../domain/ports/bundler.ts";
import type { CloudflareClient } from "./cloudflare-client.ts";
import type { UploadedAssets } from "./upload-app.ts";

/** They configure how files are served, and are not served themselves. */
const RULE_FILES = new Set(["_headers", "_redirects", ".assetsignore"]);
const HASH_LENGTH = 32;
const ATTEMPTS = 3;

const session = z.object({ jwt: z.string(), buckets: z.array(z.array(z.string())).nullish() });

/**
 * Uploads the static files of a script that Cloudflare does not have yet.
 *
 * @param scriptPath - of the script, which need not exist
 */
export async function uploadAssets(
  client: CloudflareClient,
  scriptPath: string,
  { directory, rules }: { directory: string; rules: AssetRules },
  signal: AbortSignal,
): Promise<UploadedAssets> {
  const files = await describeFiles(directory);
  const manifest = Object.fromEntries(files.map(({ url, hash, size }) => [url, { hash, size }]));
  const paths = new Map(files.map((file) => [file.hash, file.path]));
  // An upload that is interrupted leaves a session that lacks files. The next session asks for the rest.
  for (let attempt = 1; ; attempt++) {
    const request = {
      operation: "begin an upload of files",
      method: "POST",
      path: `${scriptPath}/assets-upload-session`,
    } as const;
    const { jwt, buckets } = await client.call({ ...request, body: { manifest }, signal }, session);
    let completed = (buckets ?? []).length === 0 ? jwt : null;
    for (const hashes of buckets ?? [])
      completed = (await uploadFiles(client, { jwt, hashes, paths, signal })) ?? completed;
    if (completed !== null) {
      const [headers, redirects] = await Promise.all(
        ["_headers", "_redirects"].map((name) => readText(directory, name)),
      );
      return { jwt: completed, rules, headers, redirects };
    }
    if (attempt >= ATTEMPTS) throw new Error("Cloudflare did not complete the upload of the static files.");
  }
}

interface FilesUpload {
  jwt: string;
  hashes: readonly string[];
  paths: ReadonlyMap<string, string>;
  signal: AbortSignal;
}

/** @returns the token that completes the session, after its last file */
async function uploadFiles(
  client: CloudflareClient,
  { jwt, hashes, paths, signal }: FilesUpload,
): Promise<string | null> {
  const form = new FormData();
  for (const hash of hashes) {
    const file = paths.get(hash);
    if (file === undefined) continue;
    const content = (await readFile(file)).toString("base64");
    form.set(hash, new File([content], hash, { type: contentType(file) }), hash);
  }
  const result = await client.call(
    {
      operation: "upload files",
      method: "POST",
      path: "workers/assets/upload",
      query: { base64: "true" },
      body: form,
      sessionToken: jwt,
      signal,
    },
    z.object({ jwt: z.string().nullish() }).nullish(),
  );
  return result?.jwt ?? null;
}

interface AssetFile {
  path: string;
  url: string;
  hash: string;
  size: number;
}

async function describeFiles(directory: string): Promise<AssetFile[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files: AssetFile[] = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const relative = path.relative(directory, file);
    if (RULE_FILES.has(relative)) continue;
    const content = await readFile(file);
    // The type of a file belongs to its hash, because Cloudflare stores both together.
    const hash = createHash("sha256").update(content).update(path.extname(file)).digest("hex").slice(0, HASH_LENGTH);
    files.push({ path: file, url: `/${relative.split(path.sep).join("/")}`, hash, size: content.length });
  }
  return files;
}

async function readText(directory: string, name: string): Promise<string | undefined> {
  return (await readFile(path.join(directory, name), "utf8").catch(nullIfMissing)) ?? undefined;
}

function contentType(file: string): string {
  const type = send.mime.getType(file) ?? "application/octet-stream";
  return /^text\/|javascript$|json$/.test(type) ? `${type}; charset=utf-8` : type;
}
