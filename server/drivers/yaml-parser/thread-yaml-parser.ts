import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { ParsedYaml, YamlParser } from "../../../domain/ports/yaml-parser.ts";
import { FairQueue } from "../../../domain/shared/fair-queue.ts";

const TIMEOUT_MS = 10_000;
const HEAP_MB = 128;
const THREADS = { running: 2, runningPerKey: 1, waiting: 100, waitingPerKey: 50 };

/** Parses every text in a thread of its own, because a few kilobytes can keep a parser busy for a second. */
export class ThreadYamlParser implements YamlParser {
  readonly #threads = new FairQueue(THREADS, "The service is reading other skills. Try again in a few seconds.");

  parse(orgId: string, text: string, firstLine: number): Promise<ParsedYaml> {
    return this.#threads.run(orgId, () => parseInThread(text, firstLine));
  }
}

async function parseInThread(text: string, firstLine: number): Promise<ParsedYaml> {
  const thread = new Worker(new URL("./inside/parse-yaml.ts", import.meta.url), {
    workerData: { text, firstLine },
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  try {
    const [json] = (await once(thread, "message", { signal: AbortSignal.timeout(TIMEOUT_MS) })) as [string];
    return JSON.parse(json) as ParsedYaml;
  } catch {
    return { problem: "it is too complex" };
  } finally {
    await thread.terminate();
  }
}
