import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Log, LogLevel, Miniflare } from "miniflare";
import { readUploadForm } from "../../server/platforms/shared/upload-form.ts";
import { runCommand } from "./run-command.ts";
import { measureTime } from "./measure-alternately.ts";

const WRANGLER = fileURLToPath(new URL("../../node_modules/wrangler/bin/wrangler.js", import.meta.url));

/** Turns off telemetry and update checks, like in a build of the service. */
const WRANGLER_ENV = {
  CI: "1",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
};

/** The duration of each step, in milliseconds. */
export interface BareDeployTimes {
  clone: number;
  bundle: number;
  response: number;
}

/** Runs the steps that every deployment of a plain script needs, one after the other and without the service. */
export async function runBareDeploy(repository: string, folder: string, signal: AbortSignal): Promise<BareDeployTimes> {
  const clone = path.join(folder, "clone");
  const form = path.join(folder, "script.form");
  const origin = pathToFileURL(repository).href;
  return {
    clone: await measureTime(() => runCommand(["git", "clone", "--quiet", "--depth=1", origin, clone], { signal })),
    bundle: await measureTime(() => bundle(clone, form, signal)),
    response: await measureTime(() => requestBundle(form)),
  };
}

async function bundle(cwd: string, form: string, signal: AbortSignal): Promise<void> {
  const options = ["--name", "app", "--compatibility-date", "2026-07-01", "--dry-run", "--outfile", form];
  const env = { ...process.env, ...WRANGLER_ENV };
  await runCommand([process.execPath, WRANGLER, "deploy", "src/index.ts", ...options], { cwd, env, signal });
}

async function requestBundle(form: string): Promise<void> {
  const { metadata, modules } = await readUploadForm(form);
  const miniflare = new Miniflare({
    modulesRoot: "/",
    modules: modules.map(({ name, type, contents }) => ({ type, path: `/${name}`, contents })),
    compatibilityDate: metadata.compatibility_date,
    cf: false,
    log: new Log(LogLevel.NONE),
  });
  try {
    const response = await miniflare.dispatchFetch("http://localhost/");
    if (response.status !== 200) throw new Error(`The bundle returned ${response.status}.`);
    await response.text();
  } finally {
    await miniflare.dispose();
  }
}
