import type { AssetRules } from "../../../domain/ports/bundler.ts";
import type { UploadForm, UploadModule } from "../shared/upload-form.ts";
import type { CloudflareBinding } from "./app-bindings.ts";

const CONTENT_TYPES: Readonly<Record<UploadModule["type"], string>> = {
  ESModule: "application/javascript+module",
  CommonJS: "application/javascript",
  Text: "text/plain",
  Data: "application/octet-stream",
  CompiledWasm: "application/wasm",
};

/** The main module of a bundle that contains only static files. Cloudflare has such apps without a module. */
const NO_OP_MAIN = "no-op-worker.js";

export interface UploadedAssets {
  /** The token with which the upload session was completed. */
  jwt: string;
  rules: AssetRules;
  /** The text of the files `_headers` and `_redirects`. */
  headers?: string | undefined;
  redirects?: string | undefined;
}

export interface AppUpload {
  form: UploadForm;
  bindings: readonly CloudflareBinding[];
  tags: readonly string[];
  assets: UploadedAssets | null;
  migrations?: DurableMigrations | undefined;
}

/** Classes of durable objects. `old_tag` is that of the migration before, absent if there was none; Cloudflare rejects any other one. */
export interface DurableMigrations {
  old_tag?: string;
  new_tag: string;
  steps: { new_sqlite_classes?: string[]; deleted_classes?: string[] }[];
}

/** Writes the form by which a script is uploaded, as wrangler does. */
export function createAppForm({ form, bindings, tags, assets, migrations }: AppUpload): FormData {
  const [main] = form.modules;
  const hasOnlyAssets = assets !== null && form.metadata.main_module === NO_OP_MAIN;
  const entry = form.isServiceWorker ? { body_part: main?.name } : { main_module: main?.name };
  const metadata = {
    ...(hasOnlyAssets ? {} : entry),
    bindings,
    compatibility_date: compatibilityDate(form.metadata.compatibility_date),
    compatibility_flags: form.metadata.compatibility_flags,
    tags,
    ...(migrations === undefined ? {} : { migrations }),
    ...(assets === null ? {} : { assets: { jwt: assets.jwt, config: assetConfig(assets) } }),
  };
  const upload = new FormData();
  upload.set("metadata", JSON.stringify(metadata));
  if (!hasOnlyAssets)
    for (const { name, type, contents } of form.modules)
      upload.set(name, new File([contents], name, { type: CONTENT_TYPES[type] }), name);
  return upload;
}

function assetConfig({ rules, headers, redirects }: UploadedAssets): object {
  return {
    ...rules,
    ...(headers === undefined ? {} : { _headers: headers }),
    ...(redirects === undefined ? {} : { _redirects: redirects }),
  };
}

/** Cloudflare rejects dates in the future. */
function compatibilityDate(declared: string | undefined): string {
  const today = new Date().toISOString().slice(0, 10);
  return declared === undefined || declared > today ? today : declared;
}
