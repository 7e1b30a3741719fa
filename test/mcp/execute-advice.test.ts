import { beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { discoveredProcedure, givenProcedures } from "../support/edge/live-app.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();
let gateway: GatewayClient;
let slug: string;

beforeAll(async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  const app = await service().givenApp(tenant, { name: "my-shop" });
  await givenProcedures(service(), app, [discoveredProcedure("orders.list"), discoveredProcedure("orders.get")]);
  const foreign = await service().givenApp(other, { name: "my-store" });
  await givenProcedures(service(), foreign, [discoveredProcedure("orders.list")]);
  slug = app.slug;
  gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
});

const run = async (code: string) => (await gateway.tool("service_execute", { code })).structuredContent;

test.each([
  ["const x = 1;", 0, /^The program printed nothing\. Print results with console\.log\.\n$/],
  ["  console.log();", 0, /^The program printed nothing/],
  ["service.tools.service_list_apps({});", 0, /console\.log\(await service\.…\)\.\n$/],
  ["return 5;", 1, /`return` is allowed in functions only: .* Print its result with console\.log\.\n$/],
  ["if (true) { return service; }", 1, /`return` is allowed in functions only/],
  ["service.app.shop.list();", 1, /service\.app does not exist\. Call an app with .*Did you mean service\.apps\?\n$/s],
  ["await service.list_apps();", 1, /Did you mean service\.tools\.service_list_apps\?\n$/],
  ["await service.apps.list();", 1, /The call names no procedure of an app\. Call service\.apps\["<slug>"\]/],
  ["await service.apps();", 1, /The call names no procedure of an app/],
  ["await service.tools.service_list_apps.all();", 1, /The call names no tool\. Call service\.apps/],
  ["await service.tools();", 1, /Programs have no such tool\. Available tools: company_knowledge_get/],
  ["await service.tools.list_apps();", 1, /Programs have no such tool\. Did you mean "service_list_apps"\?/],
] as const)("the output of %s says what to do", async (code, exitCode, advice) => {
  const { exit_code, stderr } = await run(code);
  expect([exit_code, stderr]).toEqual([exitCode, expect.stringMatching(advice)]);
});

test.each([
  ["await service.apps.my-shop.orders.list({});", "service.apps.my-shop is a subtraction"],
  ["await service.apps.my-shop-0abc.orders.list({});", "service.apps.my-shop-0abc is a subtraction"],
  ["console.log(await service.apps.my-shop);", 'Write service.apps["my-shop"]. Did you mean "SLUG"?'],
  ['await service.apps["my-shop"].orders.list({});', 'offers procedures. Did you mean "SLUG"? service_list_apps'],
  ["await service.apps[SLUG]({});", 'Its procedures: "orders.get", "orders.list".'],
  [
    "await service.apps[SLUG].orders.lst({});",
    'Did you mean "orders.list"? Its procedures: "orders.get", "orders.list".',
  ],
  ['await service.types("my-shop");', 'Did you mean "SLUG"? service.types()'],
])("the error of %s names the app or the procedure that is meant", async (code, advice) => {
  const { exit_code, stderr } = await run(code.replace("[SLUG]", `[${JSON.stringify(slug)}]`));
  expect([exit_code, String(stderr).replaceAll(slug, "SLUG")]).toEqual([1, expect.stringContaining(advice)]);
  expect(stderr).not.toContain("my-store");
});

test("a program that prints something, or fails with an error of its own, gets no advice", async () => {
  expect(await run("console.error('done');")).toMatchObject({ stdout: "", stderr: "done\n" });
  expect(await run("Deno.exit(3);")).toMatchObject({ stdout: "", stderr: "", exit_code: 3 });
  const { stderr } = await run("const my = 1; // service.apps.my-shop\nthrow new Error('own');");
  expect(stderr).toMatch(/Error: own\n/);
  expect(stderr).not.toContain("subtraction");
  expect(
    await run("console.log(typeof service.apps, Object.keys(service).join(), `${service}`, await service);"),
  ).toMatchObject({
    stdout: expect.stringMatching(/^function apps,tools,types \[object Object\] /),
  });
});

test("the output of a program has no codes for terminals", async () => {
  const code = String.raw`
    console.log("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 a\x00b \x9b1mbold");
    console.log("one\rtwo\r\nthree\tfour é 😀");
    console.error("\x1b[2J\x1b[1;1Hscreen");
    throw new Error("\x1b[31mred");`;
  const { stdout, stderr } = await run(code);
  expect(stdout).toBe("red link ab bold\none\ntwo\nthree\tfour é 😀\n");
  expect(stderr).toMatch(/^screen\nerror: .*Error: red\n/);
});
