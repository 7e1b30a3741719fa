import { expect, test } from "vitest";
import { ProcedureSearch } from "../../../domain/procedures/procedure-search-index.ts";
import { liveProcedure as procedure } from "../../support/procedures/live-procedure.ts";

const inputSchema = { type: "object", properties: { customerEmail: { type: "string" } } };
const FEW = ProcedureSearch.over([
  procedure("billing", "invoices.create", { description: "Writes a new invoice.", inputSchema }),
  procedure("billing", "invoices.list", { description: "Lists invoices." }),
  procedure("crm", "contacts.create", { description: "Adds a contact." }),
]);

/** As many procedures as an organization may have, of which all share words and two have rare ones. */
const MANY = ProcedureSearch.over([
  ...Array.from({ length: 10_000 }, (_, at) =>
    procedure(`app${at % 2000}`, `things.list${at}`, { description: "Lists all the things of a kind in the store." }),
  ),
  procedure("billing", "invoices.send", { description: "Sends the invoice of a store by post." }),
  procedure("zoo", "zebras.feed", { description: "Feeds all the zebras of the zoo." }),
]);

const named = async (search: Promise<ProcedureSearch>, query: string, app?: string) =>
  (await search).find(query, 8, app).map(({ procedure: { name } }) => name);

test("finds by name, description, field, app, and in spite of a slip", async () => {
  expect((await named(FEW, "create invoice"))[0]).toBe("invoices.create");
  expect((await named(FEW, "contact"))[0]).toBe("contacts.create");
  expect(await named(FEW, "customer email")).toEqual(["invoices.create"]);
  expect((await named(FEW, "billing")).toSorted()).toEqual(["invoices.create", "invoices.list"]);
  expect((await named(FEW, "invoise"))[0]).toMatch(/^invoices/);
  expect(await named(FEW, "zebra")).toEqual([]);
  expect(await named(FEW, "?! …")).toEqual([]);
});

test("finds by the beginning of a word, of a single letter when that is all there is", async () => {
  expect((await named(FEW, "inv")).toSorted()).toEqual(["invoices.create", "invoices.list"]);
  expect(await named(FEW, "w")).toEqual(["invoices.create"]);
});

test("can be kept to one app", async () => {
  expect(await named(FEW, "create", "crm")).toEqual(["contacts.create"]);
  expect(await named(FEW, "create", "absent")).toEqual([]);
});

test("finds the one procedure among ten thousand, whatever common words stand around it", async () => {
  expect((await named(MANY, "How do I send an invoice to the customer of a store?"))[0]).toBe("invoices.send");
  expect((await named(MANY, "list all the things of the zebras"))[0]).toBe("zebras.feed");
  expect((await named(MANY, `${"the things of a kind in ".repeat(20)}zebra`))[0]).toBe("zebras.feed");
  expect((await named(MANY, "things"))[0]).toMatch(/^things/);
  expect((await named(MANY, "nonsense things"))[0]).toMatch(/^things/);
});
