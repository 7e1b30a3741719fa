import { expect, test } from "vitest";
import { ProcedureSearchIndex } from "../../../domain/procedures/procedure-search-index.ts";
import { liveProcedure as procedure } from "../../support/procedures/live-procedure.ts";

const inputSchema = { type: "object", properties: { customerEmail: { type: "string" } } };
const FEW = ProcedureSearchIndex.build([
  procedure("billing", "invoices.create", { description: "Writes a new invoice.", inputSchema }),
  procedure("billing", "invoices.list", { description: "Lists invoices." }),
  procedure("crm", "contacts.create", { description: "Adds a contact." }),
]);

/** 10,002 procedures. Almost all have the same words, and two have rare ones. */
const MANY = ProcedureSearchIndex.build([
  ...Array.from({ length: 10_000 }, (_, at) =>
    procedure(`app${at % 2000}`, `things.list${at}`, { description: "Lists all the things of a kind in the store." }),
  ),
  procedure("billing", "invoices.send", { description: "Sends the invoice of a store by post." }),
  procedure("zoo", "zebras.feed", { description: "Feeds all the zebras of the zoo." }),
]);

const searchNames = async (index: Promise<ProcedureSearchIndex>, query: string, app?: string) =>
  (await index).search(query, 8, app).map(({ procedure: { name } }) => name);

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
  const index = ProcedureSearchIndex.build([
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
