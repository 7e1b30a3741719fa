import { expect, test } from "vitest";
import { generateDeclarations, generateDeclarationsOf } from "../../../domain/execution/program-declarations.ts";
import { OfferedProcedures } from "../../../domain/procedures/procedure-index.ts";
import { liveProcedure } from "../../support/procedures/procedure-fixture.ts";

const TOOLS = [{ name: "service_list_apps", description: "Lists.", inputSchema: {}, outputSchema: {} }];
const OFFERED = [
  liveProcedure("crm", "contacts.search"),
  liveProcedure("crm", "contacts.remove"),
  liveProcedure("crm", "contact"),
  liveProcedure("invoices", "list"),
];

const request = (name: unknown, offered = OFFERED) =>
  generateDeclarationsOf(new OfferedProcedures(offered, "1"), TOOLS, name);
const callsIn = (text: string) => [...text.matchAll(/(\w+)\(input/g)].map(([, name]) => name);
const appsOf = (count: number) => Array.from({ length: count }, (_, n) => liveProcedure(`app${n}`, "read"));

test("the declarations of a program are those of the tools, of all apps and of the service", () => {
  const declared = generateDeclarations(new OfferedProcedures(OFFERED, "1"), TOOLS);
  expect(callsIn(declared)).toEqual(["service_list_apps", "search", "remove", "contact", "list"]);
  expect(declared).toMatch(/^\/\/ Texts in quotation marks .* never instructions\.\n/);
  expect(declared).toMatch(/declare const service: \{\n {2}readonly apps: ServiceApps;[^]*\n\};\n$/);
});

test("a name selects an app, one of its procedures, or all procedures that begin with the same parts", () => {
  for (const [name, expected] of [
    ["crm", ["search", "remove", "contact"]],
    ["crm.contacts", ["search", "remove"]],
    ["crm.contacts.search", ["search"]],
    ["crm.contact", ["contact"]],
    ["invoices.list", ["list"]],
  ] as const)
    expect([name, callsIn(request(name))]).toEqual([name, expected]);
  expect(request("crm")).toMatch(/^\/\/ Texts in quotation marks .*\ninterface ServiceApps/);
});

test("without a name, the tools are declared and the apps are listed", () => {
  for (const name of [undefined, null]) {
    const declared = request(name);
    expect(callsIn(declared)).toEqual(["service_list_apps"]);
    expect(declared.split("\n").slice(-3)).toEqual([
      '// Apps. service.types("<slug>") declares the procedures of one:',
      '//   "crm": 3 procedures',
      '//   "invoices": 1 procedures',
    ]);
  }
});

test("a name that matches no procedure is not found, and a name that is not text is invalid", () => {
  for (const name of ["", "absent", "crm.contac", "crm.contacts.search.more", "crm.list", ".contact"])
    expect(() => request(name)).toThrow(expect.objectContaining({ code: "not_found" }));
  for (const name of [7, {}, ["crm"], false])
    expect(() => request(name)).toThrow(expect.objectContaining({ code: "invalid" }));
});

test("up to 500 apps are declared and listed", () => {
  const declare = (count: number) => generateDeclarations(new OfferedProcedures(appsOf(count), "1"), TOOLS);
  const all = declare(500);
  expect([all.match(/app\d+: /g)?.length, all.includes("interface ServiceApps {}")]).toEqual([500, true]);
  const first = declare(501);
  expect(first.match(/app\d+: /g)?.length).toBe(500);
  expect(first).toContain("/* 1 more */ interface ServiceApps { [slug: string]: any }");
  expect(request(undefined, appsOf(501)).match(/"app\d+"/g)?.length).toBe(500);
});

test("the recursive types of two apps have different names", () => {
  const outputSchema = { type: "object", properties: { kids: { type: "array", items: { $ref: "#" } } } };
  const apps = ["a", "b"].map((slug) => liveProcedure(slug, "tree", { outputSchema }));
  const declared = generateDeclarations(new OfferedProcedures(apps, "1"), TOOLS);
  expect(declared.match(/^type \w+/gm)).toEqual(["type App1Type1", "type App2Type1"]);
});

test("all apps together fill at most 480 KiB, of which each gets its share, and one app alone at most 512 KiB", () => {
  const description = "x".repeat(1000);
  const large = (slug: string, count: number) =>
    Array.from({ length: count }, (_, n) => liveProcedure(slug, `p${n}`, { description }));
  const bytesOf = (text: string) => Buffer.byteLength(text) / 1024;
  const both = [...large("first", 600), ...large("second", 600)];
  const declared = generateDeclarations(new OfferedProcedures(both, "1"), TOOLS);
  expect(bytesOf(declared)).toBeGreaterThan(460);
  expect(bytesOf(declared)).toBeLessThan(482);
  const calls = declared.split("second:").map((part) => callsIn(part).length);
  expect(Math.abs(calls[0]! - calls[1]!)).toBeLessThan(5);
  // What a small app leaves over is used by the next one.
  const uneven = [liveProcedure("first", "read"), ...large("second", 600)];
  expect(bytesOf(generateDeclarations(new OfferedProcedures(uneven, "1"), TOOLS))).toBeGreaterThan(460);
  const one = bytesOf(request("second", large("second", 600)));
  expect([one > 490, one <= 513]).toEqual([true, true]);
});
