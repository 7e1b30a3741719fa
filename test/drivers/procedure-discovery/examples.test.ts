import { expect, test } from "vitest";
import type { DiscoveryResult } from "../../../domain/ports/procedure-discovery.ts";
import { sharedDiscovery } from "../../support/procedures/shared-discovery.ts";

const shared = sharedDiscovery();

const listKindsAndNames = ({ procedures }: DiscoveryResult) => procedures.map(({ name, kind }) => `${kind} ${name}`);

test("invoices offers five procedures with descriptions, input schemas and output schemas", async () => {
  const found = await shared().discoverExample("invoices");
  expect(found.problem).toBeNull();
  expect(listKindsAndNames(found)).toEqual([
    "query list",
    "query get",
    "query outstanding",
    "mutation create",
    "mutation markPaid",
  ]);
  const [list, , outstanding, create] = found.procedures;
  expect(list).toEqual({
    name: "list",
    kind: "query",
    description: "Lists invoices, ordered by due date.",
    inputSchema: {
      type: "object",
      properties: { paid: { type: "boolean", description: "true: only paid invoices, false: only unpaid ones" } },
    },
    outputSchema: expect.objectContaining({ type: "array" }),
    invocation: { via: "trpc", endpoint: "/trpc", transformer: "none", isInputOptional: false },
  });
  expect(outstanding?.inputSchema).toEqual({ type: "object", properties: {}, additionalProperties: false });
  expect(create?.inputSchema).toEqual({
    type: "object",
    properties: {
      customer: { type: "string", minLength: 1, maxLength: 200 },
      cents: expect.objectContaining({ type: "integer", exclusiveMinimum: 0, description: "The amount in cents" }),
      due: expect.objectContaining({ type: "string", format: "date" }),
    },
    required: ["customer", "cents", "due"],
  });
  expect(Object.keys(create?.inputSchema["properties"] ?? {})).toEqual(["customer", "cents", "due"]);
  expect(create?.outputSchema).toMatchObject({ type: "object", required: ["id", "customer", "cents", "due", "paid"] });
});

test("procedures of the nested routers of crm have dotted names", async () => {
  const found = await shared().discoverExample("crm");
  expect(found.problem).toBeNull();
  expect(listKindsAndNames(found)).toEqual([
    "query companies.list",
    "query companies.get",
    "mutation companies.create",
    "query contacts.search",
    "query contacts.get",
    "mutation contacts.create",
    "mutation contacts.remove",
    "query deals.list",
    "query deals.pipeline",
    "mutation deals.create",
    "mutation deals.move",
  ]);
});

test("each operation of tasks-api maps every property of its input to a place in the request", async () => {
  const found = await shared().discoverExample("tasks-api");
  expect(found.problem).toBeNull();
  expect(listKindsAndNames(found)).toEqual([
    "query listTasks",
    "mutation addTask",
    "query getTask",
    "mutation finishTask",
  ]);
  const [list, add, , finish] = found.procedures;
  expect(list?.invocation).toEqual({
    via: "openapi",
    method: "GET",
    path: "/tasks",
    parameters: [{ name: "done", in: "query", property: "done", explode: true }],
    body: null,
  });
  expect(add?.inputSchema).toEqual({
    type: "object",
    properties: {
      title: { type: "string", minLength: 1, maxLength: 200 },
      due: { type: "string", format: "date", description: "The due date" },
    },
    required: ["title"],
    additionalProperties: false,
  });
  expect(finish).toMatchObject({
    description: "Marks a task as done or as open.",
    inputSchema: { properties: { id: { type: "integer" }, done: { type: "boolean" } }, required: ["id", "done"] },
    outputSchema: { type: "object", required: ["id", "title", "due", "done"] },
    invocation: {
      method: "PATCH",
      path: "/tasks/{id}",
      parameters: [{ name: "id", in: "path", property: "id", explode: false }],
      body: { contentType: "application/json", property: null },
    },
  });
});

test("each tool of notes-mcp is a procedure, and a read-only tool is a query", async () => {
  const found = await shared().discoverExample("notes-mcp");
  expect(found.problem).toBeNull();
  expect(listKindsAndNames(found)).toEqual(["query search_notes", "mutation write_note", "mutation delete_note"]);
  expect(found.procedures[1]).toEqual({
    name: "write_note",
    kind: "mutation",
    description: "Writes a note.",
    inputSchema: { type: "object", properties: { text: { type: "string", minLength: 1 } }, required: ["text"] },
    outputSchema: expect.objectContaining({ required: ["id", "text", "written"] }),
    invocation: { via: "mcp", endpoint: "/mcp", tool: "write_note", revision: "2025-11-25", hasSession: false },
  });
});

test("an app without procedures is not started, and no problem is reported", async () => {
  const before = shared().started();
  expect(await shared().discoverExample("hello")).toEqual({ procedures: [], problem: null });
  expect(shared().started()).toBe(before);
});
