import { beforeAll, expect, test } from "vitest";
import type { SearchHit, SearchPage } from "../../domain/sessions/search-transcripts.ts";
import { givenSession } from "../support/service/given-session.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

const search = (q: string, { rest } = tenant) =>
  rest.get(`/v1/sessions/search?${new URLSearchParams({ q }).toString()}`);

async function find(q: string, owner = tenant): Promise<SearchHit[]> {
  const { status, body, text } = await search(q, owner);
  if (status !== 200) throw new Error(text);
  return (body as unknown as SearchPage).hits;
}

const given = (contents: string[]) =>
  givenSession(tenant.rest, {
    entries: contents.map((content, index) => ({ id: `e${index + 1}`, role: "user", content })),
  });

test.each<[what: string, q: string]>([
  ["an empty query", ""],
  ["spaces", "   "],
  ["more than 10,000 characters", "a".repeat(10_001)],
])("400 for %s as the query", async (_what, q) => {
  const { status, body } = await search(q);
  expect([status, body["error"]]).toEqual([400, expect.stringMatching(/^q: /)]);
});

test("a query of 10,000 characters is searched for its first 100 words", async () => {
  const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  const { session_id } = await given([numbered("potoroo", 100).join(" ")]);
  const find100 = async (words: string[]) => (await find(words.join(" ").padEnd(10_000))).map((hit) => hit.session_id);
  expect(await find100([...numbered("potoroo", 100), ...numbered("absent", 800)])).toEqual([session_id]);
  expect(await find100([...numbered("potoroo", 99), "absent"])).toEqual([]);
});

test("a query with an unpaired surrogate over RPC, which can contain one, is searched for its other words", async () => {
  const { session_id } = await given(["antechinus"]);
  const { status, body } = await tenant.rest.get(
    `/trpc/sessions.search?input=${encodeURIComponent(String.raw`{"q":"antechinus \ud800"}`)}`,
  );
  expect([status, body]).toMatchObject([200, { result: { data: { hits: [{ session_id }] } } }]);
});

test("a NUL character in a query separates words", async () => {
  const { session_id } = await given(["brushtail possum"]);
  expect(await find("brushtail\0possum")).toMatchObject([{ session_id }]);
});

test.each([
  ["names of files", "notes_1.txt", ["notes", "1", "txt", "notes_1.txt", '"notes 1"', "NOTES_1"]],
  ["paths", "see ./srcroot/indexes/main.ts:10", ["srcroot", "indexes", "main.ts", "indexes/main.ts:10", "./srcroot/"]],
  [
    "addresses",
    "https://docs.numbat.dev/a?page=fauna#top",
    ["numbat", "docs.numbat.dev", "fauna", "page=fauna", "top"],
  ],
  ["mail addresses", "ask keeper@wildlife.example", ["keeper", "wildlife", "keeper@wildlife.example"]],
  ["versions and dates", "v12.34.56 of 2031-07-19", ["12.34 or 34.56", "34", "2031-07", "07", "19"]],
  ["joined words", "state-of-the-fauna", ["fauna", "state-of-the-fauna", "of-the"]],
  ["options", "git commit --no-verifying", ["--no-verifying", "verifying", "commit --no-verifying"]],
  ["changes and numbers", "+71 -83 lines of ~/quokkas, 5e+97", ["71", "83", "quokkas", "97", "+71"]],
  ["pointers", "dibbler = &ningaui; a+=&mulgara&&", ["ningaui", "&ningaui", "mulgara", "&ningaui;"]],
  [
    "types and tags",
    "Map<Wallaby,number> <div class=Bettong>Kowari</div>",
    ["wallaby", "bettong", "kowari", "Map<Wallaby"],
  ],
])("the words in %s are found: %s", async (_what, content, queries) => {
  const { session_id } = await given(["nothing here", content]);
  for (const q of queries) {
    const hits = (await find(q)).filter((hit) => hit.session_id === session_id);
    expect([q, hits.map(({ seq }) => seq)]).toEqual([q, [2]]);
    expect([q, hits[0]!.excerpt]).toEqual([q, content]);
  }
});

test("every character that is not a letter or digit separates words", async () => {
  const codes = Array.from({ length: 127 - 32 }, (_, index) => String.fromCharCode(32 + index));
  const separators = codes.filter((character) => !/[a-z\d]/i.test(character));
  await given(separators.map((character) => ["kaluta", "777", "ampurta", ""].join(character)));
  for (const q of ["kaluta", "777", "ampurta", "kaluta.777", "777-ampurta", '"kaluta 777 ampurta"']) {
    const { body } = await tenant.rest.get(
      `/v1/sessions/search?${new URLSearchParams({ q, limit: "100" }).toString()}`,
    );
    expect([q, (body as unknown as SearchPage).hits.length]).toEqual([q, separators.length]);
  }
});

test("the words of a name are found only one after the other, and a name can be excluded", async () => {
  const { session_id } = await given(["pademelon.md", "md pademelon", "pademelon and md", "pademelon-md"]);
  const seqs = async (q: string) => (await find(q)).map((hit) => (hit.session_id === session_id ? hit.seq : 0));
  expect(await seqs("pademelon.md")).toEqual([4, 1]);
  expect(await seqs("pademelon -pademelon.md")).toEqual([3, 2]);
  expect(await seqs("pademelon -md.pademelon")).toEqual([4, 3, 1]);
});

test("matches are the words in the content, whatever characters are around them", async () => {
  const content = "<b>🧾 a/bilby.txt</b> &amp; \u0001bilby\u0002-x. bilby<i> -bilby";
  await given([content]);
  const [hit] = await find("bilby");
  expect(hit!.excerpt).toBe(content);
  expect(hit!.matches.map(({ start, end }) => [start, content.slice(start, end)])).toEqual(
    [...content.matchAll(/bilby/g)].map(({ index }) => [index, "bilby"]),
  );
});

test.each([
  ["operators only", "& | ! () : * <-> \\ ' \""],
  ["thousands of quotes and a word", `${'"'.repeat(4000)}absentword`],
  ["10,000 exclusions", "-a ".repeat(3333)],
  ["one word of 10,000 characters", "q".repeat(10_000)],
  ["phrases only", '"a b" '.repeat(1600)],
  ["alternatives only", "a or ".repeat(2000).trim()],
  ["emoji and marks", "\u{1f9ff}\u0301 ".repeat(300)],
])("a hostile query has no hits and is not an error: %s", async (_what, q) => {
  expect(await find(q, await service().tenant())).toEqual([]);
});

test("words of many scripts are found", async () => {
  const words = "čaj μέλι чай թեյ תה شاي चाय চা சாய் ชา ชา་ ჩაი 차 お茶 コーヒー 茶 ሻይ ᏗᎧᏁ ᚠᚢᚦ 𐌰𐌱".split(" ");
  const { session_id } = await given(words);
  for (const [index, word] of words.entries())
    expect([word, (await find(word)).map((hit) => [hit.session_id, hit.seq])]).toEqual([
      word,
      [[session_id, index + 1]],
    ]);
});

test("a query with letters of every script is not an error", async () => {
  const codes = Array.from({ length: 0x11_0000 / 64 }, (_, index) => String.fromCodePoint(index * 64));
  const letters = codes.filter((letter) => /\p{L}/u.test(letter));
  for (const separator of [" ", "", " or "])
    for (let first = 0; first < letters.length; first += 700) {
      const q = letters.slice(first, first + 700).join(separator);
      const { status, text } = await search(q);
      expect([status, text]).toEqual([200, expect.stringContaining('"hits"')]);
    }
});

test.each([
  "word & | ! (",
  "a:*",
  "'; drop table sessions; --",
  '"',
  "a\\",
  "or",
  "-word",
  "²",
  "http://a.b/c?d=e",
  "<b>x</b>",
  "\u202Eword",
])("a query is text, never an operator of the database: %j", async (q) => {
  expect((await search(q)).status).toBe(200);
});
