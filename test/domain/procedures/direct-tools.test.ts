import { describe, expect, test } from "vitest";
import { callSnippet } from "../../../domain/procedures/call-snippet.ts";
import { directTools } from "../../../domain/procedures/direct-tools.ts";
import type { LiveProcedure } from "../../../domain/procedures/list-procedures.ts";
import { ProcedureSearch } from "../../../domain/procedures/procedure-search.ts";
import { verifies } from "../../support/verifies.ts";

function procedure(slug: string, name: string, more: Partial<LiveProcedure> = {}): LiveProcedure {
  return {
    ...{ appId: `app-${slug}`, app: slug, slug, tokenVersion: 1, name, kind: "query", description: "" },
    ...{ inputSchema: { type: "object" }, outputSchema: null },
    invocation: { via: "trpc", endpoint: "/trpc", transformer: "none" },
    ...more,
  };
}

const namesOf = (procedures: LiveProcedure[], reserved: string[] = []) =>
  directTools(procedures, new Set(reserved)).map(({ name }) => name);

describe("direct tools", () => {
  verifies("limits.direct_tools", "are there for an app with five procedures, and not for one with six", () => {
    const of = (slug: string, count: number) => Array.from({ length: count }, (_, n) => procedure(slug, `p${n}`));
    expect(namesOf([...of("five", 5), ...of("six", 6)])).toEqual([
      "five_p0",
      "five_p1",
      "five_p2",
      "five_p3",
      "five_p4",
    ]);
  });

  verifies("tool.direct", "have names that every client takes, whatever a procedure is called", () => {
    const awkward = ["invoices.create", "a$b", `${"long".repeat(40)}.name`, "x-y_z"].map((name) =>
      procedure("shop-k7m2xq", name),
    );
    const names = namesOf(awkward);
    expect(names).toContain("shop-k7m2xq_invoices_create");
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(new Set(names).size).toBe(4);
  });

  test("never take a name of the service or of each other, and keep theirs when others come and go", () => {
    const [one, two] = [procedure("a", "b.c"), procedure("a", "b_c")];
    const clashing = namesOf([one, two]);
    expect(new Set(clashing).size).toBe(2);
    for (const name of clashing) expect(name).toMatch(/^a_b_c_[0-9a-f]{8}$/);
    expect(namesOf([procedure("service", "execute")], ["service_execute"])).toEqual([
      expect.stringMatching(/^service_execute_[0-9a-f]{8}$/),
    ]);
    expect(namesOf([two, one])).toEqual(clashing);
  });
});

describe("a snippet", () => {
  test("is a typed call that shows what is optional", () => {
    const inputSchema = {
      type: "object",
      properties: { id: { type: "integer" }, kind: { enum: ["a", "b"] }, "odd key": { type: ["string", "null"] } },
      required: ["id"],
    };
    expect(callSnippet(procedure("crm-x", "contacts.find-one", { inputSchema }))).toBe(
      `await service.apps["crm-x"].contacts["find-one"]({ "id": number, "kind": "a" | "b" /* optional */, "odd key": string | null /* optional */ })`,
    );
    expect(callSnippet(procedure("crm-x", "list"))).toBe(`await service.apps["crm-x"].list()`);
  });
});

describe("a search", () => {
  const inputSchema = { type: "object", properties: { customerEmail: { type: "string" } } };
  const search = new ProcedureSearch([
    procedure("billing", "invoices.create", { description: "Writes a new invoice.", inputSchema }),
    procedure("billing", "invoices.list", { description: "Lists invoices." }),
    procedure("crm", "contacts.create", { description: "Adds a contact." }),
  ]);
  const found = (query: string, app?: string) => search.find(query, 8, app).map(({ procedure: { name } }) => name);

  test("finds by name, description, field, app, and in spite of a slip", () => {
    expect(found("create invoice")[0]).toBe("invoices.create");
    expect(found("contact")[0]).toBe("contacts.create");
    expect(found("customer email")).toEqual(["invoices.create"]);
    expect(found("billing").toSorted()).toEqual(["invoices.create", "invoices.list"]);
    expect(found("invoise")[0]).toMatch(/^invoices/);
    expect(found("zebra")).toEqual([]);
  });

  test("can be kept to one app", () => {
    expect(found("create", "crm")).toEqual(["contacts.create"]);
  });
});
