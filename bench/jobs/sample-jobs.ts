import assert from "node:assert/strict";
import type { JobGateway } from "./job-gateway.ts";
import type { Situation } from "./prepare-organization.ts";

/**
 * A request of a user, as a fixed sequence of calls. Each call uses only what the user has said and what earlier calls returned.
 */
export interface Job {
  /** In the words of the user. */
  name: string;
  /** @throws {assert.AssertionError} when a result is not what the next step or the user needs */
  run(gateway: JobGateway, situation: Situation): Promise<void>;
}

interface Apps {
  apps: { name: string; slug: string; url: string }[];
}

interface Deployments {
  deployments: {
    number: number;
    commit: string | null;
    is_live: boolean;
    can_roll_back: boolean;
    created_at: string;
  }[];
}

interface Logs {
  logs: { time: string; level: string; message: string }[];
}

/** The user says the name of an app, and tools accept its slug. */
async function findSlug(gateway: JobGateway, name: string): Promise<string> {
  const { apps } = await gateway.call<Apps>("service_list_apps");
  const app = apps.find((each) => each.name === name);
  assert.ok(app, `no app is named ${name}`);
  return app.slug;
}

const limits: Job = {
  name: "is anything about to hit its limit",
  async run(gateway) {
    const { quotas } = await gateway.call<{ quotas: { metric: string; used: number; limit: number }[] }>(
      "service_get_usage",
    );
    const near = quotas.filter(({ used, limit }) => limit - used <= 1).map(({ metric }) => metric);
    assert.deepEqual(near, ["apps"]);
  },
};

const explainFailure: Job = {
  name: "why did my app answer 500 at noon",
  async run(gateway, { noon }) {
    const app_id = await findSlug(gateway, "shop");
    const minutes = (count: number) => new Date(noon.getTime() + count * 60_000).toISOString();
    const window = { level: "error", since: minutes(-5), until: minutes(5) };
    const { logs } = await gateway.call<Logs>("service_get_runtime_logs", { app_id, ...window });
    assert.match(logs[0]?.message ?? "", /TypeError: Cannot read properties of undefined \(reading 'net'\)/);
    const { deployments } = await gateway.call<Deployments>("service_list_deployments", { app_id, limit: 2 });
    const cause = deployments.find(({ created_at }) => created_at < (logs[0]?.time ?? ""));
    assert.ok(cause?.is_live === true && cause.number === 2 && /^[0-9a-f]{40}$/.test(cause.commit ?? ""));
  },
};

const rollBack: Job = {
  name: "roll back the app that broke",
  async run(gateway, { visit }) {
    const { apps } = await gateway.call<Apps>("service_list_apps");
    const broken = [];
    for (const app of apps) {
      const request = { app_id: app.slug, level: "error", limit: 1 };
      if ((await gateway.call<Logs>("service_get_runtime_logs", request)).logs.length === 0) continue;
      const { deployments } = await gateway.call<Deployments>("service_list_deployments", { app_id: app.slug });
      const target = deployments.find(({ can_roll_back }) => can_roll_back);
      if (target !== undefined) broken.push({ app, target });
    }
    assert.equal(broken.length, 1);
    const [{ app, target }] = broken as [(typeof broken)[0]];
    const { number } = await gateway.call<{ number: number }>("service_rollback_app", {
      app_id: app.slug,
      number: target.number,
    });
    const { status } = await gateway.call<{ status: string }>("service_get_app_logs", {
      app_id: app.slug,
      number,
      wait_seconds: 50,
    });
    assert.equal(status, "ready");
    assert.deepEqual(await visit(`${app.url}/price`), { status: 200, text: '{"net":10}' });
  },
};

const changesSince: Job = {
  name: "what changed in the app since last week",
  async run(gateway) {
    const app_id = await findSlug(gateway, "shop");
    const { deployments } = await gateway.call<Deployments & { deployments: { trigger: string }[] }>(
      "service_list_deployments",
      { app_id },
    );
    const lastWeek = new Date(Date.now() - 7 * 86_400_000).toISOString();
    const changes = deployments.filter(({ created_at }) => created_at > lastWeek);
    assert.equal(changes.length, 3);
    const commits = new Set(changes.map(({ commit }) => commit));
    assert.equal(commits.size, 2);
    const { log } = await gateway.call<{ log: string }>("service_get_app_logs", { app_id, number: 2 });
    assert.match(log, new RegExp(String(deployments[1]?.commit)));
  },
};

const undoInstructions: Job = {
  name: "undo my change of AGENTS.md",
  async run(gateway) {
    const current = await gateway.call<{ content: string; content_hash: string; revision: number }>(
      "service_get_agent_instructions",
    );
    assert.match(current.content, /French/);
    const { after } = await gateway.call<{ after: { content: string } }>("service_set_agent_instructions", {
      revert_to: current.revision - 1,
      expected_hash: current.content_hash,
    });
    assert.equal(after.content, "");
  },
};

const otherAgent: Job = {
  name: "see what another agent did yesterday",
  async run(gateway) {
    interface Agent {
      agent_id: string;
      name: string;
    }
    const { servers } = await gateway.call<{
      servers: { server_id: string; agent: { specialized_agents: Agent[] } }[];
    }>("service_list_agents");
    const [server] = servers;
    const agent = server?.agent.specialized_agents.find(({ name }) => name === "Bookkeeper");
    assert.ok(server && agent);
    const { sessions } = await gateway.call<{ sessions: { session_id: string; created_at: string }[] }>(
      "service_list_agent_sessions",
      { server_id: server.server_id, agent_id: agent.agent_id },
    );
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const session = sessions.find(({ created_at }) => created_at.startsWith(yesterday));
    assert.ok(session);
    const { entries } = await gateway.call<{ entries: { content: string }[] }>("service_get_session_transcript", {
      session_id: session.session_id,
    });
    assert.match(entries.at(-1)?.content ?? "", /booked 12 invoices/);
  },
};

interface Hit {
  app: string;
  procedure: string;
  snippet: string;
  direct_tool: string | null;
}

const findProcedure: Job = {
  name: "which of our apps can send an invoice",
  async run(gateway) {
    const { hits } = await gateway.call<{ hits: Hit[] }>("service_docs_search", { query: "send an invoice", limit: 3 });
    assert.equal(hits[0]?.procedure, "sendInvoice");
    assert.match(hits[0].app, /^invoices-/);
  },
};

const addVariable: Job = {
  name: "add the missing variable, restart, and send invoice 7",
  async run(gateway) {
    const { hits } = await gateway.call<{ hits: Hit[] }>("service_docs_search", { query: "send an invoice", limit: 1 });
    const [hit] = hits;
    assert.ok(hit);
    const { logs } = await gateway.call<Logs>("service_get_runtime_logs", {
      app_id: hit.app,
      level: "error",
      limit: 5,
    });
    const name = /variable ([A-Z_]+) is not set/.exec(logs[0]?.message ?? "")?.[1];
    const { variables } = await gateway.call<{ variables: { name: string }[] }>("service_list_variables", {
      app_id: hit.app,
    });
    assert.ok(name !== undefined && variables.every((each) => each.name !== name));
    const value = "billing@example.com";
    const changed = await gateway.call<{ is_applied: boolean }>("service_set_variable", {
      app_id: hit.app,
      name,
      value,
    });
    assert.equal(changed.is_applied, true);
    const code = `const send = service.apps[${JSON.stringify(hit.app)}][${JSON.stringify(hit.procedure)}];
console.log(JSON.stringify(await send({ number: 7 })));`;
    const { stdout } = await gateway.call<{ stdout: string }>("service_execute", { code });
    assert.equal(stdout, `{"number":7,"from":"${value}"}\n`);
  },
};

const recallDecision: Job = {
  name: "what did we decide about refunds for Acme",
  async run(gateway) {
    const { memories } = await gateway.call<{ memories: { content: string }[] }>("memory_recall", {
      query: "refunds Acme",
    });
    assert.match(memories[0]?.content ?? "", /within ten days/);
    const { answer, citations } = await gateway.call<{ answer: string | null; citations: { title: string }[] }>(
      "company_knowledge_search",
      { query: "When are refunds paid?" },
    );
    assert.match(answer ?? "", /thirty days/);
    assert.equal(citations[0]?.title, "Refunds");
  },
};

const deployWithVariables: Job = {
  name: "deploy this repository with these variables",
  async run(gateway, { repository, visit }) {
    const variables = [
      { name: "TITLE", value: "News" },
      { name: "API_KEY", value: "k-123", secret: true },
    ];
    const app = await gateway.call<{ slug: string; url: string }>("service_deploy_app", {
      repo: repository,
      variables,
    });
    const { status } = await gateway.call<{ status: string }>("service_get_app_logs", {
      app_id: app.slug,
      wait_seconds: 50,
    });
    assert.equal(status, "ready");
    assert.deepEqual(await visit(app.url), { status: 200, text: '{"title":"News","hasKey":true}' });
  },
};

/** In an order in which each finds what it needs. */
export const JOBS: readonly Job[] = [
  limits,
  explainFailure,
  rollBack,
  changesSince,
  undoInstructions,
  otherAgent,
  findProcedure,
  addVariable,
  recallDecision,
  deployWithVariables,
];
