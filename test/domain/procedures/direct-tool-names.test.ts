import { describe, expect, test } from "vitest";
import { callSnippet } from "../../../domain/procedures/call-snippet.ts";
import { directToolNames, isReservedName } from "../../../domain/procedures/direct-tool-names.ts";
import type { LiveProcedure } from "../../../domain/procedures/list-procedures.ts";
import { liveProcedure as procedure } from "../../support/procedures/live-procedure.ts";
import { verifies } from "../../support/verifies.ts";

const namesOf = (procedures: LiveProcedure[]) => [...directToolNames(procedures).values()];

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

  test("never take each other's names, and keep theirs when other apps come and go", () => {
    const [one, two] = [procedure("a", "b.c"), procedure("a", "b_c")];
    const clashing = namesOf([one, two]);
    expect(new Set(clashing).size).toBe(2);
    for (const name of clashing) expect(name).toMatch(/^a_b_c_[0-9a-f]{8}$/);
    expect(namesOf([two, one, procedure("other", "b_c")])).toEqual([...clashing, "other_b_c"]);
    const disguised = procedure("a", String(clashing[0]).slice("a_".length));
    const names = namesOf([one, two, disguised]);
    expect(names).toEqual(expect.arrayContaining(clashing));
    expect(new Set(names).size).toBe(3);
  });

  test("never take a name that the service has or may come to have", () => {
    const own = ["service", "company", "project", "projects", "memory"].map((slug) => procedure(slug, "search"));
    for (const name of namesOf(own)) expect(name).toMatch(/^app-[a-z]+_search_[0-9a-f]{8}$/);
    expect(namesOf([procedure("service-k7m2xq", "search")])).toEqual(["service-k7m2xq_search"]);
    const long = namesOf([procedure("service", "x".repeat(100))]);
    expect(long.map((name) => [name.length, isReservedName(name)])).toEqual([[64, false]]);
  });

  test("are in the order of their names, each for its procedure", () => {
    const [b, a] = [procedure("b", "x"), procedure("a", "x")];
    expect([...directToolNames([b, a])]).toEqual([
      [a, "a_x"],
      [b, "b_x"],
    ]);
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
      `await service.apps["crm-x"].contacts["find-one"]({ id: number; kind?: "a" | "b"; "odd key"?: string | null })`,
    );
    expect(callSnippet(procedure("crm-x", "list"))).toBe(`await service.apps["crm-x"].list()`);
  });
});
