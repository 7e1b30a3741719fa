import type { Explanation } from "./explanation.ts";

const NAMES_LOCKED = "Equivalent: the lock of the names already makes these changes wait for each other.";
const WITH_AGENT = "Never evaluated: the condition applies only with an agent.";
const SHARED = "Equivalent: every other value means a shared lock.";

export const DOMAIN_PROJECTS: Record<string, Explanation[]> = {
  "domain/agents/remove-project-mounts.ts": [
    {
      original: "ids.length === 0",
      replacement: "false",
      reason: "A test of agents on OpenClaw gateways detects it: PostgreSQL rejects an empty list.",
    },
  ],
  "domain/projects/change-project.ts": [
    { original: '"update"', reason: NAMES_LOCKED },
    { original: "name !== undefined", replacement: "true", reason: "Equivalent: no project has the name null." },
    {
      original: "`projects ${orgId}`",
      reason: "Equivalent but slower: changes of the projects of all organizations wait for each other.",
    },
  ],
  "domain/projects/find-project.ts": [
    { original: '""', replacement: '"Stryker was here!"', reason: WITH_AGENT },
    {
      original: 'mode === "update"',
      replacement: "true",
      reason: "Equivalent but slower: simultaneous changes of the mounts of a project wait for each other.",
    },
  ],
  "domain/projects/list-projects.ts": [
    { original: '""', replacement: '"Stryker was here!"', reason: WITH_AGENT },
    {
      original: "page.next_cursor !== null",
      replacement: "false",
      reason: "Equivalent: an agent has at most as many projects as a page of this tool.",
    },
    { original: '"project"', reason: "Equivalent: the columns of a mount are read too, and are not shown." },
    {
      original: "last !== undefined",
      replacement: "true",
      reason: "Equivalent: a page with another one after it has at least one project.",
    },
  ],
  "domain/projects/mount-project.ts": [
    { original: '"share"', reason: SHARED },
    {
      original: "id.toLowerCase()",
      replacement: "id.toUpperCase()",
      reason: "Equivalent: the database reads both forms of an id.",
    },
  ],
  "domain/projects/search-project.ts": [
    {
      original: "Math.min(limit * PASSAGES_PER_HIT, MAX_PASSAGES)",
      reason:
        "Not caught: the number of passages decides only whether documents are found whose best passage ranks low.",
    },
  ],
};
