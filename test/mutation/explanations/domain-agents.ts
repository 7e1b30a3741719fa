import type { Explanation } from "./explanation.ts";

export const DOMAIN_AGENTS: Record<string, Explanation[]> = {
  "domain/agents/call-host.ts": [
    { original: "{ cause: error }", reason: "Equivalent for callers: the cause is for the log." },
  ],
  "domain/agents/create-server.ts": [
    {
      original: "`agent servers ${orgId}`",
      reason: "Equivalent but slower: the requests of all organizations wait for each other.",
    },
  ],
  "domain/agents/delete-agent.ts": [
    {
      original: "{ lockMode: LockMode.PESSIMISTIC_WRITE }",
      reason:
        "Equivalent: simultaneous deletions of one agent wait at the deletion of its row, and remove nothing twice.",
    },
    { original: '{ fields: ["id"] }', reason: "Equivalent but slower: the other columns are read too." },
    { original: '["id"]', reason: "Equivalent but slower: the other columns are read too." },
  ],
  "domain/agents/list-servers.ts": [
    { original: "servers.at(-1)?.server_id", reason: "Equivalent: a page that is cut has a server." },
    { original: "last !== undefined", reason: "Equivalent: a page with another one after it has a server." },
    { original: "[]", replacement: '["Stryker was here"]', reason: "Equivalent: a text is no main agent." },
  ],
  "domain/agents/read-instructions.ts": [
    { original: "last !== undefined", reason: "Equivalent: a page with another one after it has a revision." },
    {
      original: '""',
      replacement: '"Stryker was here!"',
      reason: "Never evaluated: the condition is for a given cursor.",
    },
  ],
  "domain/agents/set-instructions.ts": [
    { original: "{ cause: error }", reason: "Equivalent for callers: the cause is for the log." },
    {
      original: "change.request.expected_hash === undefined",
      replacement: "true",
      reason: "Equivalent but slower: the next attempt finds another hash, and fails too.",
    },
    {
      original: "written.revision !== null",
      replacement: "false",
      reason: "Equivalent but slower: the revision that the host has stored is found by its content.",
    },
  ],
  "domain/agents/store-revision.ts": [
    {
      original: "createdAt === null",
      replacement: "false",
      reason: "Equivalent: for null too, the time of the creation is stored.",
    },
  ],
  "domain/agents/server-monitor.ts": [
    {
      original: "!keys.has(key)",
      replacement: "false",
      reason: "Equivalent but larger: the times of connections that no longer exist are kept.",
    },
    {
      original: "this.#dueAt.delete(key);",
      reason: "Equivalent but larger: the times of connections that no longer exist are kept.",
    },
    {
      original: "this.#stored++",
      replacement: "this.#stored--",
      reason: "Equivalent: the remainders of negative numbers are as many.",
    },
  ],
  "domain/agents/store-hosted-agents.ts": [
    {
      original:
        "{ return agent.name === listed.name && agent.model === listed.model && agent.isMain === (listed.id === mainId); }",
      reason: "Equivalent but slower: agents that have not changed are stored again.",
    },
    {
      original: "agent.name === listed.name && agent.model === listed.model && agent.isMain === (listed.id === mainId)",
      replacement: "false",
      reason: "Equivalent but slower: agents that have not changed are stored again.",
    },
  ],
};
