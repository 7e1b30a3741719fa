import type { Explanation } from "./explanation.ts";

export const DOMAIN_AGENT_WORKSPACES: Record<string, Explanation[]> = {
  "domain/agent-workspaces/clear-workspace.ts": [
    {
      original: '"A program of the agent is using the workspace. Try again when it has ended."',
      reason: "The text of an error.",
    },
    { original: '"conflict"', reason: "Not caught: a program would have to run for longer than a test may." },
    { original: "{ cause: error }", reason: "Equivalent for callers: the cause is for the log." },
    {
      original: "!(error instanceof WorkspaceInUse)",
      reason: "Not caught: a program would have to run for longer than a test may.",
    },
  ],
  "domain/agent-workspaces/find-workspace.ts": [
    {
      original: "agentId === undefined || agentId === caller.agentId",
      replacement: "agentId === undefined && agentId === caller.agentId",
      reason: "Equivalent but slower: the agent is read from the database.",
    },
    {
      original: "agentId === undefined",
      replacement: "false",
      reason: "Equivalent but slower: the agent is read from the database.",
    },
    {
      original: "agentId === caller.agentId",
      replacement: "false",
      reason: "Equivalent but slower: the agent is read from the database.",
    },
  ],
  "domain/agent-workspaces/list-workspace-files.ts": [
    { original: "last !== undefined", reason: "Equivalent: if more files follow, the page has a file." },
  ],
  "domain/agent-workspaces/remove-unused-workspaces.ts": [
    { original: "start < stored.length", reason: "Equivalent: the additional batch is empty." },
    {
      original: "stored.slice(start, start + BATCH_SIZE)",
      reason: "Not caught: no test has more workspaces than one batch.",
    },
  ],
};
