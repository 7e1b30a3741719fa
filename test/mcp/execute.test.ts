import { expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { findTypeErrors } from "../support/procedures/check-types.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness({ worker: true });

async function connected(): Promise<{
  tenant: Tenant;
  run(code: string, more?: object): Promise<Record<string, unknown>>;
}> {
  const tenant = await service().tenant();
  const gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
  const run = async (code: string, more: object = {}) =>
    (await gateway.tool("service_execute", { code, ...more })).structuredContent;
  return { tenant, run };
}

verifies(
  ["tool.service_execute", "tool.service_execute.result"],
  "runs TypeScript and returns what it printed, what went wrong, and its exit code",
  async () => {
    const { run } = await connected();
    const answer: string = "const n: number = 6 * 7; console.log(n); console.error('careful');";
    expect(await run(answer)).toMatchObject({
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

test("code calls the organization's procedures and tools, with no token in its hands", async () => {
  const { tenant, run } = await connected();
  const { body } = await tenant.rest.deploy({ repo: "examples/invoices" });
  expect((await service().settled(tenant, String(body["app_id"]))).body["status"]).toBe("ready");
  const code = `
    const invoices = service.apps[${JSON.stringify(body["slug"])}];
    const made = await invoices.create({ customer: "Acme", cents: 700, due: "2026-12-24" });
    await invoices.markPaid({ id: made.id });
    const { apps } = await service.tools.service_list_apps({});
    console.log(JSON.stringify([await invoices.get({ id: made.id }), apps.length]));
    await invoices.get({ id: 99 }).catch((error) => console.log(error.code, error.message));
    await service.tools.service_execute({ code: "1" }).catch((error) => console.log(error.code));
    await service.apps["nobody-s"].list().catch((error) => console.log(error.code));
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
  const foreign = await connected();
  const stolen = await foreign.run(`await service.apps[${JSON.stringify(body["slug"])}].list()`);
  expect(stolen).toMatchObject({ exit_code: 1, stderr: expect.stringContaining("No ready app") });
});

test("code can read the types of what it may call, which are those that it is given and a compiler holds it to", async () => {
  const { tenant, run } = await connected();
  const { body } = await tenant.rest.deploy({ repo: "examples/invoices" });
  expect((await service().settled(tenant, String(body["app_id"]))).body["status"]).toBe("ready");
  const app = `service.apps[${JSON.stringify(body["slug"])}]`;
  const asked = await run(`console.log(await service.types(${JSON.stringify(body["slug"])}))`);
  expect(asked["stdout"]).toContain('/** Reads: "Lists invoices, ordered by due date." */');
  expect(asked["stdout"]).toContain('/** "The amount in cents" */ cents: number');
  const given = await run(`import types from "./service.d.ts" with { type: "text" }; console.log(types)`);
  const declarations = String(given["stdout"]);
  const right = `const made = await ${app}.create({ customer: "A", cents: 1, due: "2026-12-24" });
    console.log((await ${app}.list()).length, made.paid, (await service.tools.service_list_apps({})).apps.length);`;
  expect(findTypeErrors(declarations, right)).toEqual([]);
  const wrong = `await ${app}.create({ customer: "A", cents: "1", due: "2026-12-24" })`;
  expect(findTypeErrors(declarations, wrong)).toEqual([
    expect.stringContaining("'string' is not assignable to type 'number'"),
  ]);
  expect((await run(`await service.types()`))["exit_code"]).toBe(0);
  const { stderr, exit_code } = await run(`await service.types("nobody-s")`);
  expect([exit_code, stderr]).toEqual([1, expect.stringContaining("service.types() tells the tools and the apps")]);
});

test("code that prints more than an answer holds gets the beginning and the end of it, and is told", async () => {
  const { run } = await connected();
  const answer = await run(`for (let n = 0; n < 9000; n++) console.log("line", n); throw new Error("the reason")`);
  expect(answer["stdout"]).toMatch(/^line 0\n[^]*\n\[\d+ characters left out here\. Print less[^]*line 8999\n$/);
  expect(answer).toMatchObject({ truncated: true, exit_code: 1, stderr: expect.stringContaining("the reason") });
  expect(JSON.stringify(answer).length).toBeLessThanOrEqual(24_000);
});

test("code sees nothing of the service: no file, network or secret, and ends when its time is up", async () => {
  const { tenant, run } = await connected();
  const spy = `
    const tries = {
      file: () => Deno.readTextFileSync("/etc/passwd"), env: () => Deno.env.toObject(), run: () => new Deno.Command("id").outputSync(),
      service: () => fetch("http://127.0.0.1:5432"), internet: () => fetch("https://example.com"),
    };
    for (const [name, attempt] of Object.entries(tries))
      try { await attempt(); console.log(name, "LEAK"); } catch { console.log(name, "closed"); }
    console.log(JSON.stringify(globalThis.service), Object.keys(globalThis).filter((key) => /token/i.test(key)).length);
  `;
  const seen = await run(spy);
  expect(seen["stdout"]).not.toContain("LEAK");
  expect(String(seen["stdout"]).match(/closed/g)).toHaveLength(5);
  expect(JSON.stringify(seen)).not.toContain(tenant.personal_access_token);
  expect(
    (await run(`import secret from "file:///etc/passwd" with { type: "text" }; console.log(secret);`))["stdout"],
  ).toBe("");
  expect(await run("while (true) {}", { timeout_ms: 500 })).toMatchObject({ timed_out: true, exit_code: 124 });
});
