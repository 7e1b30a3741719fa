import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { parseJson } from "../../../domain/shared/json.ts";

const TIMEOUT_MS = 3000;
const HEAP_MB = 128;

/** What a YAML text that nobody vouches for says; `undefined` when it is none, or takes too much to parse. */
export async function parseYaml(text: string): Promise<unknown> {
  const thread = new Worker(new URL("./inside/parse-yaml.ts", import.meta.url), {
    workerData: text,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  try {
    const [json] = (await once(thread, "message", { signal: AbortSignal.timeout(TIMEOUT_MS) })) as [unknown];
    return typeof json === "string" ? parseJson(json) : undefined;
  } catch {
    return undefined;
  } finally {
    await thread.terminate();
  }
}
