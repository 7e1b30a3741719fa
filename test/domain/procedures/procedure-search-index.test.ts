import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { searchProcedureIndex, toIndexedText } from "../../../domain/procedures/indexed-procedures.ts";
import type { LiveProcedure } from "../../../domain/procedures/list-procedures.ts";
import { liveProcedure as procedure } from "../../support/procedures/procedure-fixture.ts";
import { TestScope } from "../../support/search/test-scope.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

/** The procedures of an organization in the search index. */
class IndexedProcedures {
  readonly #orgId = randomUUID();
  readonly #procedures: readonly LiveProcedure[];
  readonly #indexed: Promise<number[]>;

  constructor(procedures: readonly LiveProcedure[]) {
    this.#procedures = procedures;
    const scope = new TestScope(service, { orgId: this.#orgId, kind: "procedures", ownerId: this.#orgId });
    this.#indexed = scope.add(...procedures.map(toIndexedText));
  }

  async search(query: string, limit: number, slug?: string): Promise<{ procedure: LiveProcedure; score: number }[]> {
    const ids = await this.#indexed;
    const indexIds = slug === undefined ? undefined : new Set(ids.filter((id) => this.#procedures[id]!.slug === slug));
    const hits = await searchProcedureIndex(service().service.parts.db, this.#orgId, { query, limit, indexIds });
    return hits.map(({ indexId, score }) => ({ procedure: this.#procedures[indexId]!, score }));
  }
}

const inputSchema = { type: "object", properties: { customerEmail: { type: "string" } } };
let FEW: IndexedProcedures;
let MANY: IndexedProcedures;

beforeAll(() => {
  FEW = new IndexedProcedures([
    procedure("billing", "invoices.create", { description: "Writes a new invoice.", inputSchema }),
    procedure("billing", "invoices.list", { description: "Lists invoices." }),
    procedure("crm", "contacts.create", { description: "Adds a contact." }),
  ]);
  // 10,002 procedures. Almost all have the same words, and two have rare ones.
  MANY = new IndexedProcedures([
    ...Array.from({ length: 10_000 }, (_, at) =>
      procedure(`app${at % 2000}`, `things.list${at}`, { description: "Lists all the things of a kind in the store." }),
    ),
    procedure("billing", "invoices.send", { description: "Sends the invoice of a store by post." }),
    procedure("zoo", "zebras.feed", { description: "Feeds all the zebras of the zoo." }),
  ]);
});

const searchNames = async (index: IndexedProcedures, query: string, app?: string) =>
  (await index.search(query, 8, app)).map(({ procedure: { name } }) => name);

test("procedures are found by name, description, property and app, and despite a typing error", async () => {
  expect((await searchNames(FEW, "create invoice"))[0]).toBe("invoices.create");
  expect((await searchNames(FEW, "contact"))[0]).toBe("contacts.create");
  expect(await searchNames(FEW, "customer email")).toEqual(["invoices.create"]);
  expect((await searchNames(FEW, "billing")).toSorted()).toEqual(["invoices.create", "invoices.list"]);
  expect((await searchNames(FEW, "invoise"))[0]).toMatch(/^invoices/);
  expect(await searchNames(FEW, "zebra")).toEqual([]);
  expect(await searchNames(FEW, "?! …")).toEqual([]);
});

test("a word counts most in the name, then in the app, then in the properties, and least in the description", async () => {
  // All fields have the same length, which affects the score too.
  const build = (name: string, app: string, property: string, word: string) =>
    procedure(app, `${name}.run`, {
      description: `Tracks one ${word}.`,
      inputSchema: { type: "object", properties: { [property]: { type: "string" } } },
    });
  const index = new IndexedProcedures([
    build("first", "alpha", "thing", "parcel"),
    build("second", "beta", "parcel", "thing"),
    build("third", "parcel", "thing", "thing"),
    build("parcel", "gamma", "thing", "thing"),
  ]);
  expect(await searchNames(index, "parcel")).toEqual(["parcel.run", "third.run", "second.run", "first.run"]);
});

test("procedures are found by the prefix of a word, even a single letter when it is the whole query", async () => {
  expect((await searchNames(FEW, "inv")).toSorted()).toEqual(["invoices.create", "invoices.list"]);
  expect(await searchNames(FEW, "w")).toEqual(["invoices.create"]);
});

test("a search can be limited to one app", async () => {
  expect(await searchNames(FEW, "create", "crm")).toEqual(["contacts.create"]);
  expect(await searchNames(FEW, "create", "absent")).toEqual([]);
});

test("a rare word finds its procedure among ten thousand, whatever common words the query has", async () => {
  expect((await searchNames(MANY, "How do I send an invoice to the customer of a store?"))[0]).toBe("invoices.send");
  expect((await searchNames(MANY, "list all the things of the zebras"))[0]).toBe("zebras.feed");
  expect((await searchNames(MANY, `${"the things of a kind in ".repeat(20)}zebra`))[0]).toBe("zebras.feed");
  expect((await searchNames(MANY, "things"))[0]).toMatch(/^things/);
  expect((await searchNames(MANY, "nonsense things"))[0]).toMatch(/^things/);
});

test("the names of the properties of nested schemas are found, down to eight levels", async () => {
  const nest = (levels: number, schema: object): object =>
    levels === 0 ? schema : { items: nest(levels - 1, schema) };
  const withProperty = (name: string) => ({ properties: { [name]: { type: "string" } } });
  const index = new IndexedProcedures([
    procedure("a", "shallow", { inputSchema: { type: "object", ...withProperty("giraffe") } }),
    procedure("a", "nested", { inputSchema: { type: "object", ...nest(8, withProperty("lioness")) } }),
    procedure("a", "deep", { inputSchema: { type: "object", ...nest(9, withProperty("penguin")) } }),
    procedure("a", "odd", { inputSchema: { type: "object", properties: null, items: { properties: "ab" } } }),
  ]);
  expect(await searchNames(index, "giraffe")).toEqual(["shallow"]);
  expect(await searchNames(index, "lioness")).toEqual(["nested"]);
  expect(await searchNames(index, "penguin")).toEqual([]);
  // Keywords of JSON Schema are not names of properties.
  for (const keyword of ["items", "type", "0"]) expect(await searchNames(index, keyword)).toEqual([]);
});

test("of the properties of one schema, the first 200 are found", async () => {
  // Words of three characters must be typed correctly.
  const nameOf = (at: number) => `x${at.toString(36).padStart(2, "0")}`;
  const properties = Object.fromEntries(Array.from({ length: 201 }, (_, at) => [nameOf(at), {}]));
  const index = new IndexedProcedures([procedure("a", "wide", { inputSchema: { type: "object", properties } })]);
  expect(await searchNames(index, nameOf(199))).toEqual(["wide"]);
  expect(await searchNames(index, nameOf(200))).toEqual([]);
});

test("a word of more than three characters may have typing errors, at most two, and a shorter one none", async () => {
  const index = new IndexedProcedures([procedure("a", "encyclopedia"), procedure("a", "cats")]);
  for (const [query, found] of [
    ["encyclopedya", true],
    ["encyklopedya", true],
    ["enkyklopedya", false],
    ["cots", false],
    ["encyclopedia", true],
    ["ENCYCLOPEDIA!", true],
  ] as const)
    expect([query, (await searchNames(index, query)).includes("encyclopedia")]).toEqual([query, found]);
  expect(await searchNames(index, "cat")).toEqual(["cats"]);
  expect(await searchNames(index, "cot")).toEqual([]);
});

test("a word of one or two letters matches as a prefix only when it is the whole query", async () => {
  const index = new IndexedProcedures([procedure("a", "invoice"), procedure("b", "zebra")]);
  expect(await searchNames(index, "in")).toEqual(["invoice"]);
  expect(await searchNames(index, "in zebra")).toEqual(["zebra"]);
  expect((await searchNames(index, "inv zebra")).toSorted()).toEqual(["invoice", "zebra"]);
});

test("a search returns the best hits with scores, up to the limit", async () => {
  const index = new IndexedProcedures([
    procedure("a", "invoices", { description: "Lists invoices." }),
    procedure("a", "contacts", { description: "Lists contacts and invoices." }),
    procedure("a", "createInvoice"),
  ]);
  const hits = await index.search("invoices", 2);
  expect(hits.map(({ procedure: { name } }) => name)[0]).toBe("invoices");
  expect(hits).toHaveLength(2);
  expect(hits[0]!.score).toBeGreaterThan(hits[1]!.score);
  expect((await index.search("invoice", 3)).map(({ procedure: { name } }) => name)).toContain("createInvoice");
});

test('a word such as "on" counts in names only, and less than other words', async () => {
  const index = new IndexedProcedures([
    procedure("home", "lights.on", { description: "Turns lamps on and off." }),
    procedure("home", "lights.off", { description: "Turns lamps on and off." }),
    procedure("home", "heating.on"),
  ]);
  expect(await searchNames(index, "turn off the lamps")).toEqual(["lights.off", "lights.on"]);
  expect((await searchNames(index, "lights on"))[0]).toBe("lights.on");
  expect((await searchNames(index, "on")).toSorted()).toEqual(["heating.on", "lights.on"]);
  expect(await searchNames(index, "the")).toEqual([]);
});

test("of a long query, the rarest words are searched for, wherever they are", async () => {
  const index = new IndexedProcedures([procedure("a", "zebra")]);
  const words = Array.from({ length: 19 }, (_, at) => `word${String.fromCodePoint(97 + at)}`);
  expect(await searchNames(index, [...words, ...words, "zebra"].join(" "))).toEqual(["zebra"]);
  expect(await searchNames(index, [...words, "another", "zebra"].join(" "))).toEqual(["zebra"]);
});
