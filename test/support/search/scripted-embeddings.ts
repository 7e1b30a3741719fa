import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { EmbeddingsSettings } from "../../../server/drivers/embeddings/ai-sdk-embeddings.ts";
import { startLoopbackServer } from "../loopback-server.ts";

/** How the endpoint responds instead of with vectors. A number is the status of an error. */
export type BadResponse = number | "nothing" | "html" | "too few" | "mixed dimensions" | "zeros" | "text";

interface EmbeddingsCall {
  path: string;
  headers: IncomingHttpHeaders;
  body: { model: string; input: string[]; dimensions?: number };
}

/** An endpoint on loopback with the embeddings API of OpenAI. Words of one line of the table have the same direction. */
export interface ScriptedEmbeddings extends AsyncDisposable {
  settings: EmbeddingsSettings;
  calls: EmbeddingsCall[];
  /** What the endpoint does with the next requests; `null` for vectors. */
  fail(response: BadResponse | null): void;
  /** Rejects requests with a text that contains the word. */
  reject(word: string | null): void;
}

const SYNONYMS = [
  "parental maternity leave baby birth newborn",
  "car vehicle automobile parking garage",
  "invoice bill payment pay",
  "dismiss fire terminate notice",
].map((line) => new Set(line.split(" ")));
const DIMENSIONS = 256;
const SYNONYM_WEIGHT = 4;
/** What the endpoint adds to its error messages, as careless ones do. */
export const API_KEY = "key-of-the-embeddings";

export async function openScriptedEmbeddings(): Promise<ScriptedEmbeddings> {
  const calls: EmbeddingsCall[] = [];
  let bad: BadResponse | null = null;
  let rejected: string | null = null;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await text(request)) as EmbeddingsCall["body"];
    calls.push({ path: request.url ?? "", headers: request.headers, body });
    if (bad === "nothing") return;
    const word = rejected;
    const status = word !== null && body.input.some((input) => input.includes(word)) ? 400 : bad;
    if (typeof status === "number") {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: `bad: ${request.headers.authorization}, ${body.input[0]}` } }));
      return;
    }
    response.writeHead(200, { "content-type": bad === "html" ? "text/html" : "application/json" });
    if (bad === "html") response.end("<html>Sign in</html>");
    else response.end(JSON.stringify({ object: "list", model: body.model, data: toData(body, bad) }));
  };
  const server = await startLoopbackServer((request, response) => void handle(request, response));
  const baseUrl = `${server.url}/v1`;
  return {
    settings: { model: "m", baseUrl, apiKey: API_KEY, dimensions: null, minSimilarity: 0.3 },
    calls,
    fail: (value) => {
      bad = value;
    },
    reject: (value) => {
      rejected = value;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function toData({ input, dimensions }: EmbeddingsCall["body"], bad: BadResponse | null): object[] {
  const vectors = input.map((value, index) =>
    embedText(value, bad === "mixed dimensions" ? DIMENSIONS + (index % 2) : (dimensions ?? DIMENSIONS)),
  );
  const returned = bad === "too few" ? vectors.slice(1) : vectors;
  return returned.map((vector, index) => ({
    object: "embedding",
    index,
    embedding: bad === "zeros" ? vector.map(() => 0) : bad === "text" ? vector.map(String) : vector,
  }));
}

/** Returns a vector with a direction for each word, and one for all words of a line of the table. */
function embedText(value: string, dimensions: number): number[] {
  const vector: number[] = Array.from({ length: dimensions }, () => 0);
  for (const [word] of value.toLowerCase().matchAll(/\p{L}{3,}/gu)) {
    const line = SYNONYMS.findIndex((synonyms) => synonyms.has(word));
    const place = line === -1 ? SYNONYMS.length + (hash(word) % (dimensions - SYNONYMS.length)) : line;
    vector[place] = (vector[place] ?? 0) + (line === -1 ? 1 : SYNONYM_WEIGHT);
  }
  // A text without words needs a direction too.
  if (!vector.some((number) => number > 0)) vector[dimensions - 1] = 1;
  return vector;
}

function hash(word: string): number {
  let sum = 7;
  for (const letter of word) sum = (Math.imul(sum, 31) + (letter.codePointAt(0) ?? 0)) >>> 0;
  return sum;
}
