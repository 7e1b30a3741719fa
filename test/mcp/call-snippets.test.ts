import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness({ worker: true, sharesBuilds: true });

interface Hit {
  procedure: string;
  snippet: string;
}

/** Procedures that other procedures depend on come first, and those that remove something last. */
function rank({ procedure }: Hit): number {
  if (/companies.create/.test(procedure)) return 0;
  if (/create|add|write/i.test(procedure)) return 1;
  return /remove|delete/.test(procedure) ? 3 : 2;
}

const EXAMPLES = new URL("../../examples/", import.meta.url);
const WITHOUT_PROCEDURES = ["guestbook", "hello", "site", "starter-site"];

test("every snippet of every example app runs as it is", async () => {
  const folders = (await readdir(EXAMPLES, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const examples = folders.map(({ name }) => name).filter((name) => !WITHOUT_PROCEDURES.includes(name));
  expect(examples.toSorted()).toEqual([
    "crm",
    "invoices",
    "notes-mcp",
    "starter-agent-tools",
    "starter-api",
    "tasks-api",
  ]);
  for (const example of examples) {
    // The number of deployments of an organization is limited.
    const tenant = await service().tenant();
    const gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
    const { body } = await tenant.rest.deploy({ repo: `examples/${example}` });
    const app = await service().waitForStatus(tenant, String(body["app_id"]));
    expect([example, app.body["status"]]).toEqual([example, "ready"]);
    const found = await gateway.tool("service_docs_search", { query: example, app: body["slug"], limit: 50 });
    const hits = found.structuredContent["hits"] as Hit[];
    expect([example, found.structuredContent["cut"], hits.length > 1]).toEqual([example, null, true]);
    for (const hit of hits.toSorted((a, b) => rank(a) - rank(b))) {
      const code = `${hit.snippet}\nconsole.log("done");`;
      const { structuredContent } = await gateway.tool("service_execute", { code });
      expect([hit.snippet, structuredContent]).toEqual([
        hit.snippet,
        expect.objectContaining({ stdout: "done\n", stderr: "", exit_code: 0 }),
      ]);
    }
  }
});
