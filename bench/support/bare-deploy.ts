import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Log, LogLevel, Miniflare } from "miniflare";
import { readUploadForm } from "../../server/platforms/embedded/workerd/upload-form.ts";
import { runProgram } from "./run-command.ts";
import { timed } from "./request-app.ts";

const WRANGLER = fileURLToPath(new URL("../../node_modules/wrangler/bin/wrangler.js", import.meta.url));

/** What a build of the service is spared too: reports to the vendor and the search for a newer version. */
const QUIET = {
  CI: "1",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
};

/** How long each part took by itself, in milliseconds. */
export interface BareParts {
  clone: number;
  bundle: number;
  response: number;
}

/** Does by itself, one after the other, what no deploy of a plain script can do without. */
export async function bareDeploy(repository: string, folder: string, signal: AbortSignal): Promise<BareParts> {
  const clone = path.join(folder, "clone");
  const form = path.join(folder, "script.form");
  const origin = pathToFileURL(repository).href;
  return {
    clone: await timed(() => runProgram(["git", "clone", "--quiet", "--depth=1", origin, clone], { signal })),
    bundle: await timed(() => bundle(clone, form, signal)),
    response: await timed(() => firstResponse(form)),
  };
}

async function bundle(cwd: string, form: string, signal: AbortSignal): Promise<void> {
  const options = ["--name", "app", "--compatibility-date", "2026-07-01", "--dry-run", "--outfile", form];
  const env = { ...process.env, ...QUIET };
  await runProgram([process.execPath, WRANGLER, "deploy", "src/index.ts", ...options], { cwd, env, signal });
}

async function firstResponse(form: string): Promise<void> {
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
    if (response.status !== 200) throw new Error(`The bundle answered ${response.status}`);
    await response.text();
  } finally {
    await miniflare.dispose();
  }
}
