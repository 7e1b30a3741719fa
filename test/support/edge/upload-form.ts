import { writeFile } from "node:fs/promises";

export interface FormBinding {
  type: string;
  name: string;
  [setting: string]: unknown;
}

export interface FormOptions {
  bindings?: FormBinding[];
  compatibilityDate?: string;
  compatibilityFlags?: string[];
  mainModule?: string;
  /** Whether the script is a service worker. */
  isServiceWorker?: boolean;
  /** Further modules by name. A string is an ES module. */
  modules?: Record<string, string | { type: string; contents: string }>;
}

/** An upload form, as `wrangler deploy --dry-run --outfile` writes it for a script with this main module. */
function uploadForm(script: string, options: FormOptions = {}): string {
  const mainModule = options.mainModule ?? "index.js";
  const metadata = {
    [options.isServiceWorker ? "body_part" : "main_module"]: mainModule,
    bindings: options.bindings ?? [],
    compatibility_date: options.compatibilityDate ?? "2026-07-01",
    compatibility_flags: options.compatibilityFlags ?? [],
  };
  const boundary = "----formdata-undici-000000000000";
  const main = options.isServiceWorker ? { type: "application/javascript", contents: script } : script;
  const modules = Object.entries({ [mainModule]: main, ...options.modules });
  const parts = [part("metadata", null, JSON.stringify(metadata)), ...modules.map(modulePart)];
  return `${parts.map((text) => `--${boundary}\r\n${text}\r\n`).join("")}--${boundary}--`;
}

export async function writeUploadForm(file: string, script: string, options: FormOptions = {}): Promise<string> {
  await writeFile(file, uploadForm(script, options));
  return file;
}

function modulePart([name, module]: [string, string | { type: string; contents: string }]): string {
  const { type, contents } =
    typeof module === "string" ? { type: "application/javascript+module", contents: module } : module;
  return part(name, type, contents);
}

function part(name: string, type: string | null, contents: string): string {
  const file = type === null ? "" : `; filename="${name}"`;
  return `Content-Disposition: form-data; name="${name}"${file}\r\n${type === null ? "" : `Content-Type: ${type}\r\n`}\r\n${contents}`;
}
