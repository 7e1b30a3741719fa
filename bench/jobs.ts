import { writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { JobGateway } from "./jobs/job-gateway.ts";
import { prepareOrganization } from "./jobs/prepare-organization.ts";
import { JOBS } from "./jobs/sample-jobs.ts";
import { formatInteger, type Metric, type Section } from "./support/bench-section.ts";
import { type GatewayClient, JSON_CONTENT, listToolsBody } from "./support/mcp-client.ts";
import { startService } from "./support/start-servers.ts";

export const jobs: Section = {
  name: "jobs",
  title: "Jobs of users through the gateway",
  method:
    "Requests of users, each as a fixed sequence of `tools/call` against a service with deployed apps. A call uses only what the user has said and what earlier calls returned. Tokens are those of `o200k_base`, of the names and arguments of the calls and of their structured results: what an agent writes and reads, without its own text and without the list of tools. `test/mcp/jobs.test.ts` runs the same jobs.",
  async measure({ folder, signal, log }) {
    const plansFile = path.join(folder, "plans.json");
    // The organization has two apps before the jobs, and one of the jobs deploys a third.
    await writeFile(plansFile, JSON.stringify({ scale: { apps: 3 } }));
    const gitBaseUrl = pathToFileURL(path.join(folder, "repositories")).href;
    const options = { dataDirectory: path.join(folder, "data"), gitBaseUrl, settings: { PLANS_FILE: plansFile } };
    await using service = await startService(options, signal);
    const organization = await service.call("createOrganization");
    const publicUrl = await service.call("publicUrl");
    const rest = { url: publicUrl, token: organization.api_key, signal };
    const client = { url: `${publicUrl}/mcp`, token: organization.personal_access_token, signal };
    const situation = await prepareOrganization(rest, { folder });
    log("the organization is prepared");
    const metrics: Metric[] = [];
    for (const { name, run } of JOBS) {
      const gateway = new JobGateway(client);
      await run(gateway, situation);
      metrics.push(toMetric(name, gateway));
    }
    return { metrics, notes: [await describeList(client)] };
  },
};

function toMetric(name: string, { calls, tokens }: JobGateway): Metric {
  const count = calls.length === 1 ? "1 call" : `${calls.length} calls`;
  const details = calls.map((call) => `${call.tool} (${formatInteger(call.tokens)})`).join(", ");
  return { name, result: `${count}, ${formatInteger(tokens)} tokens`, target: null, details };
}

/** An agent reads the list once, before its first call. */
async function describeList({ url, token, signal }: GatewayClient): Promise<string> {
  const headers = { ...JSON_CONTENT, authorization: `Bearer ${token}` };
  const response = await fetch(url, { method: "POST", headers, body: listToolsBody(), signal });
  const { result } = (await response.json()) as { result: { tools: object[] } };
  const tokens = countTokens(JSON.stringify(result.tools));
  return `The list of the ${result.tools.length} tools has ${formatInteger(tokens)} tokens.`;
}
