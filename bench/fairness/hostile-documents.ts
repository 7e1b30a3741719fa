import { type HostileAct, type HostileCaller, repeatInParallel, sendAs } from "./hostile-act.ts";

const MEBIBYTE = 1024 * 1024;
/** The largest text of a document. */
const TEXT_BYTES = 2 * MEBIBYTE;
const SEARCHES = 10;

const encoder = new TextEncoder();

/** Repeats what `line` returns until the text has the size of the largest document. */
function fill(line: (n: number) => string): string {
  const lines: string[] = [];
  for (let n = 0, bytes = 0; ; n++) {
    const next = line(n);
    bytes += encoder.encode(next).length;
    if (bytes > TEXT_BYTES - 1000) return lines.join("");
    lines.push(next);
  }
}

const words = (): string => fill((n) => `w${n.toString(36)} `);

/** Each pair of characters occurs once. */
function characters(): string {
  const [first, count] = [0x4e00, 20_000];
  let at = 0;
  return fill((n) => {
    at = (at + 1 + (n % 997)) % count;
    return String.fromCodePoint(first + at);
  });
}

const LETTERS = "abcdefghij";
const PERMUTATIONS = 150_000;

/** The words of ten different letters, in the order of their numbers. */
function permutations(): string {
  const permute = (number: number): string => {
    const letters = LETTERS.split("");
    let rest = number;
    let word = "";
    for (let size = letters.length; size > 0; size--) {
      word += letters.splice(rest % size, 1)[0] ?? "";
      rest = Math.floor(rest / size);
    }
    return word;
  };
  return Array.from({ length: PERMUTATIONS }, (_, number) => permute(number * 24)).join(" ");
}

async function upload(caller: HostileCaller, body: string): Promise<string | null> {
  const { status, text } = await sendAs(caller, "POST", "/v1/knowledge/documents", body);
  return status === 201 ? (JSON.parse(text) as { document_id: string }).document_id : null;
}

async function search(caller: HostileCaller, query: string): Promise<void> {
  await repeatInParallel(SEARCHES, SEARCHES, () =>
    sendAs(caller, "GET", `/v1/knowledge/search?query=${encodeURIComponent(query)}`),
  );
}

/** Uploads a document, searches it, and deletes it. */
function documentAct(name: string, createBody: () => object, query: string): HostileAct {
  let body = "";
  return {
    name: `${name}, ${SEARCHES} searches, and its deletion`,
    prepare: () => {
      body ||= JSON.stringify({ title: "Large", kind: "policy", ...createBody() });
    },
    run: async (caller) => {
      const id = await upload(caller, body);
      await search(caller, query);
      if (id !== null) await sendAs(caller, "DELETE", `/v1/knowledge/documents/${id}`);
    },
  };
}

const file = (name: string, content: string): object => ({
  file: { name, content: Buffer.from(content).toString("base64") },
});

/** Documents that need much time, memory or space, all within the limits. */
export const hostileDocuments: readonly HostileAct[] = [
  documentAct("a document of 524,000 headings", () => ({ content: fill(() => "# a\n") }), "a heading"),
  documentAct(
    "the same headings in HTML",
    () =>
      file(
        "headings.html",
        fill(() => "<h1>a</h1>"),
      ),
    "a heading",
  ),
  documentAct("a document of different words", () => ({ content: words() }), "wabc w12x wzzzzzz"),
  documentAct("a document of different pairs of characters", () => ({ content: characters() }), "一丁丂七"),
  documentAct("a document of permutations, misspelled", () => ({ content: permutations() }), "abcdefghjj bacdefghij"),
];
