// Runs in a thread of its own. Receives a text and posts a `ParsedYaml` as JSON.
import { parentPort, workerData } from "node:worker_threads";
import { type Document, isAlias, isNode, parseDocument, visit } from "yaml";
import type { ParsedYaml } from "../../../../domain/ports/yaml-parser.ts";

const OPTIONS = { schema: "core", stringKeys: true, logLevel: "silent" } as const;
const MAX_PROBLEM_LENGTH = 200;

function parse(text: string, firstLine: number): ParsedYaml {
  // Line breaks in front make the parser count as in the whole file.
  const document = parseDocument("\n".repeat(firstLine - 1) + text, OPTIONS);
  const [error] = document.errors;
  if (error !== undefined) return { problem: describeError(error.message) };
  const problem = findForbiddenNode(document);
  return problem === null ? { value: document.toJS({ maxAliasCount: 0 }) } : { problem };
}

/** The message of the parser goes on with an excerpt of the text. */
function describeError(message: string): string {
  const [line = ""] = message.split("\n");
  return line.replace(/:$/, "").slice(0, MAX_PROBLEM_LENGTH);
}

function findForbiddenNode(document: Document): string | null {
  let problem: string | null = null;
  visit(document, (_, node) => {
    if (isAlias(node)) problem = "aliases (*name) are not allowed";
    else if (isNode(node) && node.tag !== undefined) problem = "tags (!name) are not allowed";
    return problem === null ? undefined : visit.BREAK;
  });
  return problem;
}

const { text, firstLine } = workerData as { text: string; firstLine: number };
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is for windows; this is a thread
parentPort?.postMessage(JSON.stringify(parse(text, firstLine)));
