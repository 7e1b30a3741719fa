import { readFileSync, writeFileSync } from "node:fs";
import { assignBindingIds, type FormBinding, type StorageConfig } from "./assign-binding-ids.ts";
import { pagesModules, type PagesRoutes } from "./pages-modules.ts";
import { DEFAULT_COMPATIBILITY_DATE } from "./write-pages-config.ts";

interface FormMetadata {
  main_module: string;
  bindings?: FormBinding[];
  compatibility_date?: string;
}

const METADATA_START = `name="metadata"\r\n\r\n`;
const METADATA_END = "\r\n--";

/**
 * Completes the upload form that wrangler wrote: ids of storage bindings, and for a script of a Pages project the binding
 * to its static files and the rules that decide which requests the script gets.
 *
 * @param pagesRoutes - `null` unless the script belongs to a Pages project
 */
export function completeUploadForm(formFile: string, config: StorageConfig, pagesRoutes: PagesRoutes | null): void {
  // Latin-1 maps every byte to one character and back: the modules in the form may be binary.
  const form = readFileSync(formFile, "latin1");
  const start = form.indexOf(METADATA_START) + METADATA_START.length;
  const end = form.indexOf(METADATA_END, start);
  const metadata = JSON.parse(Buffer.from(form.slice(start, end), "latin1").toString("utf8")) as FormMetadata;
  metadata.bindings = assignBindingIds(metadata.bindings ?? [], config);
  let modules = "";
  if (pagesRoutes !== null) {
    const pages = pagesModules(metadata.main_module, pagesRoutes);
    modules = pages.modules.map((module) => formPart(form, module)).join("");
    metadata.main_module = pages.mainModule;
    metadata.bindings.push({ name: "ASSETS", type: "assets" });
    metadata.compatibility_date ??= DEFAULT_COMPATIBILITY_DATE;
  }
  const json = toLatin1(JSON.stringify(metadata));
  writeFileSync(formFile, modules + form.slice(0, start) + json + form.slice(end), "latin1");
}

function formPart(form: string, { name, source }: { name: string; source: string }): string {
  return partHeader(form, name, "application/javascript+module") + toLatin1(`${source}\r\n`);
}

/** The header of a part of `form`. The first line of a form is its boundary. */
function partHeader(form: string, name: string, type: string): string {
  const boundary = form.slice(0, form.indexOf("\r\n"));
  // The escapes of the HTML standard for names in forms.
  const escaped = name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
  const disposition = `Content-Disposition: form-data; name="${escaped}"; filename="${escaped}"`;
  return toLatin1(`${boundary}\r\n${disposition}\r\nContent-Type: ${type}\r\n\r\n`);
}

function toLatin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}
