import type { ClientRun } from "../client-run.ts";
import type { RecordedTranscript } from "./recorded-transcript.ts";
import type { ScriptServer } from "./script-server.ts";

const MAX_CHARACTERS = 300;
const MAX_ELEMENTS = 4;
const MAX_DEPTH = 7;

/** Replaces the folders of this machine, and shortens what programs write besides the conversation: prompts and schemas. */
export function sanitizeTranscript(
  { text }: RecordedTranscript,
  { home, workFolder, model }: ClientRun<ScriptServer>,
): string {
  const sanitized = text
    .replaceAll(workFolder, "/home/user/work")
    .replaceAll(home, "/home/user")
    .replaceAll(model.url, "http://127.0.0.1:8080")
    .replaceAll(/"osVersion":"[^"]*"/g, '"osVersion":"Linux"')
    .replaceAll(/OS Version: [^\\"]*/g, "OS Version: Linux");
  const lines = sanitized.split("\n").filter((line) => line !== "");
  return lines.map((line) => `${JSON.stringify(shorten(JSON.parse(line), 0))}\n`).join("");
}

function shorten(value: unknown, depth: number): unknown {
  if (typeof value === "string") return value.length > MAX_CHARACTERS ? `${value.slice(0, MAX_CHARACTERS)}…` : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.slice(0, MAX_ELEMENTS).map((element) => shorten(element, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shorten(inner, depth + 1)]));
}
