import { expect, test } from "vitest";
import { z } from "zod";
import type { ToolDeclaration } from "../../../domain/execution/call-declarations.ts";
import { generateDeclarations, generateDeclarationsOf } from "../../../domain/execution/program-declarations.ts";
import type { LiveProcedure } from "../../../domain/procedures/list-procedures.ts";
import { OfferedProcedures } from "../../../domain/procedures/procedure-index.ts";
import { createCallSnippet } from "../../../domain/procedures/search-procedures.ts";
import { findTypeErrors } from "../../support/procedures/check-types.ts";
import { liveProcedure } from "../../support/procedures/procedure-fixture.ts";

interface ProcedureOptions {
  input?: z.ZodType | object;
  output?: z.ZodType | object;
  description?: string;
  kind?: LiveProcedure["kind"];
}

function procedure(
  slug: string,
  name: string,
  { input, output, description = "", kind = "query" }: ProcedureOptions = {},
): LiveProcedure {
  const toSchema = (type: z.ZodType | object | undefined, io: "input" | "output") =>
    (type instanceof z.ZodType ? z.toJSONSchema(type, { io }) : type) as Record<string, unknown> | undefined;
  return liveProcedure(slug, name, {
    kind,
    description,
    inputSchema: toSchema(input, "input") ?? { type: "object" },
    outputSchema: toSchema(output, "output") ?? null,
  });
}

const invoice = z.object({ id: z.int(), customer: z.string(), cents: z.int(), due: z.iso.date(), paid: z.boolean() });
const contact = z.object({ id: z.int(), name: z.string(), companyId: z.int().nullable() });

const OFFERED = [
  procedure("crm-k7m2xq", "contacts.search", {
    description: "Finds contacts.",
    input: z.object({ text: z.string().default(""), companyId: z.int().optional() }),
    output: z.array(contact),
  }),
  procedure("crm-k7m2xq", "contacts.remove-all", { kind: "mutation", output: z.object({ removed: z.boolean() }) }),
  procedure("invoices-s2rrx4", "create", {
    kind: "mutation",
    description: "Writes a new, open invoice.",
    input: invoice.pick({ customer: true, due: true }).extend({ cents: z.int().describe("The amount in cents") }),
    output: invoice,
  }),
  procedure("invoices-s2rrx4", "list", { input: z.object({ paid: z.boolean().optional() }), output: z.array(invoice) }),
];

const TOOLS: ToolDeclaration[] = [
  {
    name: "service_list_apps",
    description: "Lists the apps. At length.",
    inputSchema: z.toJSONSchema(z.object({ limit: z.int().default(50) }), { io: "input" }),
    outputSchema: z.toJSONSchema(z.object({ apps: z.array(z.object({ slug: z.string() })) })),
  },
];

const declare = (...procedures: LiveProcedure[]) => generateDeclarations(new OfferedProcedures(procedures, "1"), TOOLS);

test("the compiler accepts calls that match the declarations, and rejects all others", () => {
  const declarations = declare(...OFFERED);
  const valid = `
    const [first] = await service.apps["crm-k7m2xq"].contacts.search({ text: "Ada" });
    if (first !== undefined && first.companyId === null) console.log(first.name.length);
    await service.apps["crm-k7m2xq"].contacts.search();
    const { removed } = await service.apps["crm-k7m2xq"].contacts["remove-all"]({ anything: 1 });
    const { cents } = await service.apps["invoices-s2rrx4"].create({ customer: "A", cents: 1, due: "2026-12-24" });
    const { apps } = await service.tools.service_list_apps();
    const types: string = await service.types("crm-k7m2xq");
    console.log(removed, cents.toFixed(), apps[0]?.slug, types);`;
  expect(findTypeErrors(declarations, valid)).toEqual([]);
  const invalid = [
    `await service.apps["crm-k7m2xq"].contacts.search({ text: 1 })`,
    `await service.apps["crm-k7m2xq"].contacts.search({ texts: "Ada" })`,
    `await service.apps["crm-k7m2xq"].contacts.find({})`,
    `await service.apps["crm-absent"].contacts.search({})`,
    `await service.apps["invoices-s2rrx4"].create({ customer: "A", cents: 1 })`,
    `await service.apps["invoices-s2rrx4"].create()`,
    `(await service.apps["invoices-s2rrx4"].list()).map((each) => each.total)`,
    `await service.tools.service_list_apps({ limit: "all" })`,
    `await service.tools.service_execute({ code: "1" })`,
    `service.apps = {} as never`,
  ];
  for (const each of invalid) expect([each, findTypeErrors(declarations, each)]).toEqual([each, [expect.any(String)]]);
});

test("descriptions become comments in quotation marks", () => {
  const declarations = declare(...OFFERED);
  expect(declarations).toContain('/** Reads: "Finds contacts." */');
  expect(declarations).toContain('/** "The amount in cents" */ cents: number');
  expect(declarations).toContain("/** Writes */");
  expect(declarations).toContain('/** "Lists the apps." */');
});

test("an app cannot inject declarations through its names, descriptions or schemas", () => {
  const evil = 'x */ declare const stolen: string; /* \n*/\u2028 } declare const stolen: string; // "\u202E';
  const schema = {
    type: "object",
    description: evil,
    properties: {
      [evil]: { enum: [evil, evil.repeat(9)], description: evil, format: evil },
      a: { const: { [evil]: evil } },
    },
    patternProperties: { [evil]: { $ref: `#/$defs/${evil}` } },
    required: [evil, "`${stolen}`", "__proto__"],
    $defs: { [evil]: {} },
  };
  const names = [
    "new",
    "get",
    "set",
    "constructor.name",
    "a-b.-.$.0",
    "type",
    "then",
    "readonly",
    "static.async.await",
  ];
  const procedures = names.map((name) =>
    procedure("evil-k7m2xq", name, { description: evil, input: schema, output: schema }),
  );
  const declarations = declare(...procedures, procedure("evil-k7m2xq", "get.deeper", { description: evil }));
  expect(findTypeErrors(declarations, `await service.apps["evil-k7m2xq"].get.deeper()`)).toEqual([]);
  expect(findTypeErrors(declarations, "console.log(stolen)")).toEqual(["main.ts:1 Cannot find name 'stolen'."]);
  for (const { name } of procedures) {
    const call = `service.apps["evil-k7m2xq"]${name
      .split(".")
      .map((step) => `[${JSON.stringify(step)}]`)
      .join("")}`;
    expect([name, findTypeErrors(declarations, `${call}(1)`).length]).toEqual([name, 1]);
  }
});

test("a procedure can have the name of a group of procedures", () => {
  const declarations = declare(procedure("a-k7m2xq", "order"), procedure("a-k7m2xq", "order.list"));
  const program = `await service.apps["a-k7m2xq"].order(); await service.apps["a-k7m2xq"].order.list()`;
  expect(findTypeErrors(declarations, program)).toEqual([]);
});

test("recursive types are declared separately for each app", () => {
  const node = { type: "object", properties: { kids: { type: "array", items: { $ref: "#" } } } };
  const declarations = declare(
    procedure("a-k7m2xq", "tree", { output: node }),
    procedure("b-k7m2xq", "tree", { output: node }),
  );
  const program = `const { kids = [] } = await service.apps["b-k7m2xq"].tree(); console.log(kids[0]?.kids?.[0]?.kids);`;
  expect(findTypeErrors(declarations, program)).toEqual([]);
});

test("a call snippet has an example input, and compiles as it is", () => {
  const snippets = OFFERED.map(createCallSnippet);
  expect(snippets).toEqual([
    `// input?: { text?: string; companyId?: number }
const result: { id: number; name: string; companyId: number | null }[] = await service.apps["crm-k7m2xq"].contacts.search({})`,
    `const result: { removed: boolean } = await service.apps["crm-k7m2xq"].contacts["remove-all"]()`,
    `// input: { customer: string; due: string; cents: number }
const result: { id: number; customer: string; cents: number; due: string; paid: boolean } = await service.apps["invoices-s2rrx4"].create({ customer: "customer", due: "2026-12-24", cents: 1 })`,
    `// input?: { paid?: boolean }
const result: { id: number; customer: string; cents: number; due: string; paid: boolean }[] = await service.apps["invoices-s2rrx4"].list({})`,
  ]);
  const program = snippets.map((snippet) => `{ ${snippet}; void result; }`);
  expect(findTypeErrors(declare(...OFFERED), program.join("\n"))).toEqual([]);
});

test("an app cannot inject code through its schemas into a call snippet", () => {
  const evil = 'x */ \n stolen(); // "\u2028 stolen(); `${stolen()}`';
  const schema = {
    type: "object",
    properties: { [evil]: { examples: [{ [evil]: evil }] }, __proto__: { const: evil }, b: { enum: [evil] } },
    required: [evil, "b", "__proto__"],
  };
  const snippet = createCallSnippet(procedure("evil-k7m2xq", evil, { input: schema, output: schema }));
  // The comment is one line; the rest is one statement without a call but the intended one.
  expect(snippet.split(/[\n\r\u2028\u2029]/)).toHaveLength(2);
  expect(snippet.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')).not.toContain("stolen");
});

test("a program can request the declarations of an app, of a part of it, or of the tools", () => {
  const offered = new OfferedProcedures(OFFERED, "1");
  const request = (name?: unknown) => generateDeclarationsOf(offered, TOOLS, name);
  expect(request("invoices-s2rrx4")).toMatch(/create\([^]*list\(/);
  expect(request("invoices-s2rrx4")).not.toContain("contacts");
  expect(request("invoices-s2rrx4.list")).not.toContain("create");
  expect(request("crm-k7m2xq.contacts")).toMatch(/search\([^]*remove-all/);
  expect(request()).toMatch(/service_list_apps\([^]*"crm-k7m2xq": 2 procedures[^]*"invoices-s2rrx4": 2 procedures/);
  for (const name of ["absent-k7m2xq", "crm-k7m2xq.contact", "__proto__", ""])
    expect(() => request(name)).toThrow("No ready app offers this");
  expect(() => request({})).toThrow("accepts the slug of an app");
});

test("the declarations of any number of apps stay within 512 KiB, and every app has a share", () => {
  const wide = {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [`field${n}`, { type: "string", description: "é".repeat(200) }]),
    ),
  };
  const nested = Array.from({ length: 60 }).reduce<object>(
    (inner) => ({ type: "object", properties: { a: inner, b: inner } }),
    {},
  );
  const large = Array.from({ length: 500 }, (_, n) =>
    procedure("a-large", `many.p${n}`, { input: wide, output: nested, description: "é".repeat(1000) }),
  );
  const small = Array.from({ length: 40 }, (_, n) => procedure(`small-${n}`, "read", { output: invoice }));
  const declarations = declare(...large, ...small);
  expect(Buffer.byteLength(declarations)).toBeLessThanOrEqual(512 * 1024);
  expect(declarations).toMatch(/\/\* \d+ more \*\/ \[step: string\]: any/);
  const program = `await service.apps["small-39"].read(); await service.apps["a-large"].many.p0(); await service.apps["a-large"].left({});`;
  expect(findTypeErrors(declarations, program)).toEqual([]);
  const everyApp = declare(...Array.from({ length: 3000 }, (_, n) => procedure(`app-${n}`, "read", { input: wide })));
  expect(Buffer.byteLength(everyApp)).toBeLessThanOrEqual(512 * 1024);
  expect(findTypeErrors(everyApp, `await service.apps["app-2999"].read();`)).toEqual([]);
  const one = generateDeclarationsOf(new OfferedProcedures(large, "1"), TOOLS, "a-large");
  expect(Buffer.byteLength(one)).toBeLessThanOrEqual(600 * 1024);
});
