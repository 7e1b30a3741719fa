import { randomBytes } from "node:crypto";
import { CloudflareError } from "./cloudflare-error.ts";
import type { NamespaceScripts } from "./namespace-scripts.ts";
import { WRONG_MIGRATION_TAG } from "./versioned-scripts.ts";

const MODULE = "check.js";
const CODE = `export default { fetch: () => new Response(null, { status: 404 }) };`;
const COMPATIBILITY_DATE = "2026-07-01";

/**
 * Returns whether Cloudflare rejects an upload whose migration has no classes and a wrong old tag, which its documentation says of
 * migrations in general. Uploads a small script for that, which no request reaches, and removes it.
 *
 * @throws {CloudflareError} when Cloudflare does not respond
 */
export async function checkConditionalUploads(scripts: NamespaceScripts, signal: AbortSignal): Promise<boolean> {
  const name = `check__${randomBytes(8).toString("hex")}`;
  /** Returns whether an upload is accepted; `null` when it is rejected because of its old tag. */
  const accepts = (migrations: object): Promise<boolean | null> =>
    scripts.upload(name, createForm(migrations), { masks: [], signal }).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof CloudflareError)) return false;
        if (error.isTransient) throw error;
        return error.hasCode(WRONG_MIGRATION_TAG) ? null : false;
      },
    );
  try {
    // The tag is rejected if an attempt before had its effect, and its response was lost.
    if ((await accepts({ new_tag: "first", steps: [] })) === false) return false;
    if ((await accepts({ old_tag: "other", new_tag: "second", steps: [] })) !== null) return false;
    return (await scripts.migrationTag(name, signal)) === "first";
  } finally {
    await scripts.remove(name);
  }
}

function createForm(migrations: object): FormData {
  const form = new FormData();
  const metadata = { main_module: MODULE, bindings: [], compatibility_date: COMPATIBILITY_DATE, migrations };
  form.set("metadata", JSON.stringify(metadata));
  form.set(MODULE, new File([CODE], MODULE, { type: "application/javascript+module" }), MODULE);
  return form;
}
