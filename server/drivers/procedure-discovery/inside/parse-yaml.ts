// Runs in a thread of its own, because half a megabyte of YAML can keep a parser busy for a minute. Receives a text and
// posts the same data as JSON, or `null` when the text cannot be parsed.
import { parentPort, workerData } from "node:worker_threads";
import { parse } from "yaml";

// Aliases are limited, because a few lines of them can expand to gigabytes.
const OPTIONS = { maxAliasCount: 100, schema: "core", uniqueKeys: false, logLevel: "silent" } as const;

function convertToJson(text: string): string | null {
  try {
    return JSON.stringify(parse(text, OPTIONS));
  } catch {
    return null;
  }
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is for windows; this is a thread
parentPort?.postMessage(convertToJson(String(workerData)));
