import { describe, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { Repository } from "../support/builds/git-repository.ts";
import type { CallableApp } from "../support/procedures/callable-apps/callable-app.ts";
import { MCP_APPS } from "../support/procedures/callable-apps/mcp-apps.ts";
import { OPENAPI_APPS } from "../support/procedures/callable-apps/openapi-apps.ts";
import { TRPC_APPS } from "../support/procedures/callable-apps/trpc-apps.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";

const { harness, repositories } = repositoriesHarness({ sharesBuilds: true });

/** Deploys an app, and returns functions that call its procedures in both ways. */
async function deploy({ name, files }: CallableApp) {
  const tenant = await harness().tenant();
  await (await Repository.create(repositories(), `acme/${name}`)).commitFiles(files);
  const { body } = await tenant.rest.deploy({ repo: `acme/${name}` });
  const { body: app } = await harness().waitForStatus(tenant, String(body["app_id"]));
  expect([app["status"], app["error"]]).toEqual(["ready", null]);
  const slug = String(body["slug"]);
  const gateway = new GatewayClient(harness().service.publicUrl, tenant.personal_access_token);
  const tools = await gateway.tools();
  const findTool = (procedure: string) => tools.find(({ title }) => title === `${slug}: ${procedure}`);
  return {
    statusMessage: app["status_message"],
    async callTool(procedure: string, args: object) {
      const { structuredContent } = await gateway.tool(String(findTool(procedure)?.["name"]), args);
      return Object.hasOwn(structuredContent, "output") ? structuredContent["output"] : structuredContent;
    },
    /** Runs a call with this code as its input, and returns what JSON makes of the output. */
    async callInProgram(procedure: string, input: string) {
      const access = procedure.split(".").map((step) => `[${JSON.stringify(step)}]`);
      const call = `service.apps[${JSON.stringify(slug)}]${access.join("")}(${input})`;
      const write = `(_, value) => typeof value === "bigint" ? String(value) : value instanceof Set || value instanceof Map ? [...value] : value`;
      const code = `console.log(JSON.stringify(await ${call}, ${write}))`;
      const { structuredContent } = await gateway.tool("service_execute", { code });
      expect(structuredContent).toMatchObject({ stderr: "" });
      return JSON.parse(String(structuredContent["stdout"])) as unknown;
    },
  };
}

describe.each([...TRPC_APPS, ...OPENAPI_APPS, ...MCP_APPS])("an app with $what", (callable) => {
  test("offers procedures that a program and an agent with direct tools can call", async () => {
    const { callTool, callInProgram, statusMessage } = await deploy(callable);
    expect(statusMessage).toEqual(callable.statusMessage ?? null);
    for (const { procedure, input, args, output, toolOutput = output } of callable.calls) {
      expect([procedure, await callInProgram(procedure, input)]).toEqual([procedure, output]);
      expect([procedure, await callTool(procedure, args)]).toEqual([procedure, toolOutput]);
    }
  });
});
