import { once } from "node:events";
import { Worker } from "node:worker_threads";
import PQueue from "p-queue";
import type { ParsedYaml, YamlParser } from "../../../domain/ports/yaml-parser.ts";

const TIMEOUT_MS = 10_000;
const HEAP_MB = 128;
const MAX_THREADS = 2;

/** Parses every text in a thread of its own, because a few kilobytes can keep a parser busy for a second. */
export class ThreadYamlParser implements YamlParser {
  readonly #threads = new PQueue({ concurrency: MAX_THREADS });

  parse(text: string, firstLine: number): Promise<ParsedYaml> {
    return this.#threads.add(() => parseInThread(text, firstLine));
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
