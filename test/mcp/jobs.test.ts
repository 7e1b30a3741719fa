import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { JobGateway } from "../../bench/jobs/job-gateway.ts";
import { prepareOrganization, type Situation } from "../../bench/jobs/prepare-organization.ts";
import { JOBS } from "../../bench/jobs/sample-jobs.ts";
import { DEFAULT_LIMITS } from "../../domain/plans/plans.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** The organization has two apps before the jobs, and one of the jobs deploys a third. */
const PLAN = { ...DEFAULT_LIMITS, apps: 3 };
/** More than a job needs, and much less than an agent may spend on one. */
const MAX_CALLS = 7;
const MAX_TOKENS = 4000;

const stack = new AsyncDisposableStack();
let harness: Harness;
let tenant: Tenant;
let situation: Situation;

beforeAll(async () => {
  const { path: folder } = stack.use(await temporaryFolder());
  const gitBaseUrl = pathToFileURL(`${folder}/repositories`).href;
  const config = { gitBaseUrl, plans: { free: PLAN, jobs: PLAN } };
  harness = stack.use(await createHarness({ worker: true, config }));
  tenant = await harness.tenant({ plan: "jobs" });
  const { publicUrl: url } = harness.service;
  const rest = { url, token: tenant.api_key, signal: new AbortController().signal };
  situation = await prepareOrganization(rest, { folder });
});

afterAll(() => stack.disposeAsync());

test("there are ten jobs", () => {
  expect(new Set(JOBS.map(({ name }) => name)).size).toBe(10);
});

test.each(JOBS)("an agent does with the gateway alone: $name", async ({ run }) => {
  const url = `${harness.service.publicUrl}/mcp`;
  const gateway = new JobGateway({ url, token: tenant.personal_access_token, signal: new AbortController().signal });
  await run(gateway, situation);
  const { calls, tokens } = gateway;
  expect(calls.length).toBeLessThanOrEqual(MAX_CALLS);
  expect(tokens).toBeLessThan(MAX_TOKENS);
  process.stdout.write(`${calls.length} calls, ${tokens} tokens: ${calls.map(({ tool }) => tool).join(", ")}\n`);
});
