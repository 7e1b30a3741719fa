import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

/** What all tools of the service may take together of the context of each agent, and how many there are to be. */
const BUDGET_TOKENS = 6000;
const TOOLS_TO_BE = 16;
/** Where clients cut a description, in bytes. */
const DESCRIPTION_BYTES = 2048;

interface Listed {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: string; additionalProperties: unknown };
  outputSchema: { type: string };
  annotations: Record<string, unknown>;
}

async function listed(): Promise<Listed[]> {
  const tenant = await service().tenant();
  const tools = await new GatewayClient(service().service.publicUrl, tenant.personal_access_token).tools();
  return tools as unknown as Listed[];
}

test("the list of tools leaves room: each takes its share of 6,000 tokens, and all together no more", async () => {
  const tools = await listed();
  expect(countTokens(JSON.stringify(tools))).toBeLessThan(BUDGET_TOKENS);
  const sizes = tools.map((tool) => countTokens(JSON.stringify(tool)));
  const average = sizes.reduce((sum, size) => sum + size, 0) / tools.length;
  expect(average).toBeLessThanOrEqual(BUDGET_TOKENS / TOOLS_TO_BE);
});

test("every tool has a plain object to take and to return, all four annotations, and a description that no client cuts", async () => {
  for (const tool of await listed()) {
    expect(tool.name).toMatch(/^(service|company|projects?|memory)_[a-z0-9_]+$/);
    expect(Buffer.byteLength(tool.description)).toBeLessThan(DESCRIPTION_BYTES);
    expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(tool.outputSchema.type).toBe("object");
    expect(Object.keys(tool.annotations).toSorted()).toEqual([
      "destructiveHint",
      "idempotentHint",
      "openWorldHint",
      "readOnlyHint",
    ]);
    for (const hint of Object.values(tool.annotations)) expect(typeof hint).toBe("boolean");
  }
});

test("the list has the same order each time, so that clients can keep it", async () => {
  const names = (await listed()).map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
  expect((await listed()).map(({ name }) => name)).toEqual(names);
});
