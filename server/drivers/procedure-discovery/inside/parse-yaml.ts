// Runs in a thread of its own: half a megabyte of YAML can keep a parser busy for a minute. Gets a text, answers with
// the same as JSON, or with nothing when it cannot be parsed.
import { parentPort, workerData } from "node:worker_threads";
import { parse } from "yaml";

// Aliases are counted, because a few lines of them can stand for gigabytes.
const OPTIONS = { maxAliasCount: 100, schema: "core", uniqueKeys: false, logLevel: "silent" } as const;

function asJson(text: string): string | null {
  try {
    return JSON.stringify(parse(text, OPTIONS));
  } catch {
    return null;
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows; this is a thread
parentPort?.postMessage(asJson(String(workerData)));
