import { expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { findTypeErrors } from "../support/procedures/check-types.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness({ worker: true, sharesBuilds: true });

async function connect(): Promise<{
  tenant: Tenant;
  run(code: string, options?: object): Promise<Record<string, unknown>>;
}> {
  const tenant = await service().tenant();
  const gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
  const run = async (code: string, options: object = {}) =>
    (await gateway.tool("service_execute", { code, ...options })).structuredContent;
  return { tenant, run };
}

verifies(
  ["tool.service_execute", "tool.service_execute.result"],
  "service_execute runs TypeScript and returns its stdout, stderr and exit code",
  async () => {
    const { run } = await connect();
    const code = "const n: number = 6 * 7; console.log(n); console.error('careful');";
    expect(await run(code)).toMatchObject({
      stdout: "42\n",
      stderr: "careful\n",
      exit_code: 0,
      truncated: false,
      timed_out: false,
    });
    expect(await run("throw new Error('no luck')")).toMatchObject({
      exit_code: 1,
      stderr: expect.stringContaining("no luck"),
    });
  },
);

test("a program calls the organization's procedures and tools without a token", async () => {
  const { tenant, run } = await connect();
  const { body } = await tenant.rest.deploy({ repo: "examples/invoices" });
  expect((await service().waitForStatus(tenant, String(body["app_id"]))).body["status"]).toBe("ready");
  const code = `
    const invoices = service.apps[${JSON.stringify(body["slug"])}];
    const made = await invoices.create({ customer: "Acme", cents: 700, due: "2026-12-24" });
    await invoices.markPaid({ id: made.id });
    const { apps } = await service.tools.service_list_apps({});
    console.log(JSON.stringify([await invoices.get({ id: made.id }), apps.length]));
    await invoices.get({ id: 99 }).catch((error) => console.log(error.code, error.message));
    await service.tools.service_execute({ code: "1" }).catch((error) => console.log(error.code));
    await service.apps["absent-s"].list().catch((error) => console.log(error.code));
  `;
  const { stdout, stderr, exit_code } = await run(code);
  expect([stderr, exit_code]).toEqual(["", 0]);
  expect(String(stdout).split("\n")).toEqual([
    JSON.stringify([{ id: 1, customer: "Acme", cents: 700, due: "2026-12-24", paid: true }, 1]),
    "app_error Invoice not found",
    "not_found",
    "not_found",
    "",
  ]);
  const other = await connect();
  const foreignCall = await other.run(`await service.apps[${JSON.stringify(body["slug"])}].list()`);
  expect(foreignCall).toMatchObject({ exit_code: 1, stderr: expect.stringContaining("No ready app") });
});

test("a program can read its type declarations, and the compiler checks calls against them", async () => {
  const { tenant, run } = await connect();
  const { body } = await tenant.rest.deploy({ repo: "examples/invoices" });
  expect((await service().waitForStatus(tenant, String(body["app_id"]))).body["status"]).toBe("ready");
  const app = `service.apps[${JSON.stringify(body["slug"])}]`;
  const requested = await run(`console.log(await service.types(${JSON.stringify(body["slug"])}))`);
  expect(requested["stdout"]).toContain('/** Reads: "Lists invoices, ordered by due date." */');
  expect(requested["stdout"]).toContain('/** "The amount in cents" */ cents: number');
  const imported = await run(`import types from "./service.d.ts" with { type: "text" }; console.log(types)`);
  const declarations = String(imported["stdout"]);
  const valid = `const made = await ${app}.create({ customer: "A", cents: 1, due: "2026-12-24" });
    console.log((await ${app}.list()).length, made.paid, (await service.tools.service_list_apps({})).apps.length);`;
  expect(findTypeErrors(declarations, valid)).toEqual([]);
  const invalid = `await ${app}.create({ customer: "A", cents: "1", due: "2026-12-24" })`;
  expect(findTypeErrors(declarations, invalid)).toEqual([
    expect.stringContaining("'string' is not assignable to type 'number'"),
  ]);
  expect((await run(`await service.types()`))["exit_code"]).toBe(0);
  const { stderr, exit_code } = await run(`await service.types("absent-s")`);
  expect([exit_code, stderr]).toEqual([1, expect.stringContaining("service.types() lists the tools and the apps")]);
});

test("output that exceeds the response is cut to its beginning and its end, and a note says so", async () => {
  const { run } = await connect();
  const result = await run(`for (let n = 0; n < 9000; n++) console.log("line", n); throw new Error("the reason")`);
  expect(result["stdout"]).toMatch(/^line 0\n[^]*\n\[\d+ characters left out here\. Print less[^]*line 8999\n$/);
  expect(result).toMatchObject({ truncated: true, exit_code: 1, stderr: expect.stringContaining("the reason") });
  expect(JSON.stringify(result).length).toBeLessThanOrEqual(24_000);
});

test("a program has no files, network or secrets of the service, and is stopped at its time limit", async () => {
  const { tenant, run } = await connect();
  const code = `
    const attempts = {
      file: () => Deno.readTextFileSync("/etc/passwd"), env: () => Deno.env.toObject(), run: () => new Deno.Command("id").outputSync(),
      service: () => fetch("http://127.0.0.1:5432"), internet: () => fetch("https://example.com"),
    };
    for (const [name, attempt] of Object.entries(attempts))
      try { await attempt(); console.log(name, "LEAK"); } catch { console.log(name, "closed"); }
    console.log(JSON.stringify(globalThis.service), Object.keys(globalThis).filter((key) => /token/i.test(key)).length);
  `;
  const result = await run(code);
  expect(result["stdout"]).not.toContain("LEAK");
  expect(String(result["stdout"]).match(/closed/g)).toHaveLength(5);
  expect(JSON.stringify(result)).not.toContain(tenant.personal_access_token);
  expect(
    (await run(`import secret from "file:///etc/passwd" with { type: "text" }; console.log(secret);`))["stdout"],
  ).toBe("");
  expect(await run("while (true) {}", { timeout_ms: 500 })).toMatchObject({ timed_out: true, exit_code: 124 });
});
