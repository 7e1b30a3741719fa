import type { ParsedYaml, YamlParser } from "../../../domain/ports/yaml-parser.ts";
import { FairQueue } from "../../../domain/shared/fair-queue.ts";
import { parseInThread } from "../../sandbox/parse-in-thread.ts";

const SCRIPT = new URL("./inside/parse-yaml.ts", import.meta.url);
const TIMEOUT_MS = 10_000;
const THREADS = { running: 2, runningPerKey: 1, waiting: 100, waitingPerKey: 50 };

/** Parses every text in a thread of its own, because a few kilobytes can keep a parser busy for a second. */
export class ThreadYamlParser implements YamlParser {
  readonly #threads = new FairQueue(THREADS, "The service is reading other skills. Try again in a few seconds.");

  parse(orgId: string, text: string, firstLine: number): Promise<ParsedYaml> {
    return this.#threads.run(orgId, () => parse(text, firstLine));
  }
}

async function parse(text: string, firstLine: number): Promise<ParsedYaml> {
  const json = await parseInThread(SCRIPT, { text, firstLine }, TIMEOUT_MS);
  return typeof json === "string" ? (JSON.parse(json) as ParsedYaml) : { problem: "it is too complex" };
}
