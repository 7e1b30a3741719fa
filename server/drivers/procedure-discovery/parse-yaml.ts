import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { parseJson } from "../../../domain/shared/json.ts";

const TIMEOUT_MS = 3000;
const HEAP_MB = 128;

/**
 * Parses untrusted YAML in a thread of its own, within bounds on time and memory.
 *
 * @returns `undefined` when the text is not YAML or parsing it breaks a bound
 */
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
