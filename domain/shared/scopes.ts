/** In ascending order. Each scope includes the scopes before it. */
export const SCOPES = ["read", "deploy", "everything"] as const;

export type Scope = (typeof SCOPES)[number];

/** What a scope adds to the scopes before it, in lists of permissions. An empty list: nothing. */
interface ScopeDescription {
  /** In one sentence, without a full stop. */
  summary: string;
  rest: readonly string[];
  tools: readonly string[];
  programs: readonly string[];
}

/**
 * The only description of the scopes: docs/scopes.md, the OpenAPI document, the consent page and the tokens page show it.
 * The checks use the scope of each procedure, which docs/scopes.md lists too.
 */
export const SCOPE_DESCRIPTIONS = {
  read: {
    summary:
      "Read apps with their app tokens and logs, agents with their instructions, memories, transcripts and workspace files, Company Knowledge, projects and usage, and call procedures of apps that only read",
    rest: [
      "Read apps with their app tokens, environments, deployments, procedures, build and runtime logs, variables except secrets, what they store, and the pushes to their repositories",
      "Read servers and agents with their instructions, skills, memories, transcripts of sessions, and workspace files",
      "Read and search Company Knowledge, projects and their documents",
      "Read usage, the settings of the organization, its git connections with the names of their repositories, and the list of tokens",
    ],
    tools: [
      "Read apps with their deployments, build and runtime logs, and variables except secrets",
      "Read agents with their instructions, skills, memories and transcripts of sessions",
      "Read and search Company Knowledge, projects and their documents",
      "Read the usage and the limits of the plan",
      "Call procedures of apps that only read, and run programs",
    ],
    programs: ["Call the tools and the procedures of apps that only read"],
  },
  deploy: {
    summary: "Also deploy, update and roll back apps, change their variables, and query their databases",
    rest: [
      "Deploy apps, also again, create environments, promote, cancel deployments, roll back, let pushes deploy, and change names, branches, build settings and variables",
      "Query the databases of apps",
    ],
    tools: ["Deploy apps, also again, roll back, and set variables"],
    programs: ["Deploy apps, also again, roll back, and set variables"],
  },
  everything: {
    summary:
      "Everything that your role permits, also to delete apps, to change agents, knowledge, projects and tokens, and to call procedures of apps that change data",
    rest: [
      "Delete apps and replace their tokens",
      "Change servers and agents with their instructions, skills, memories, sessions and workspace files",
      "Change Company Knowledge, projects, git connections, and the settings of the organization",
      "Issue and revoke tokens, and read the audit log",
    ],
    tools: [
      "Delete apps, change the instructions of agents, and store memories",
      "Call every procedure of apps, also procedures that change or delete data",
    ],
    programs: [
      "Delete apps, change the instructions of agents, and store memories",
      "Call every procedure of apps, also procedures that change or delete data",
    ],
  },
} as const satisfies Record<Scope, ScopeDescription>;

/** The scopes that identify the user and keep a client connected. They permit no call of the service. */
export const IDENTITY_SCOPES = {
  openid: "See your user id",
  profile: "See your name",
  email: "See your email address",
  offline_access: "Stay connected until you revoke access",
} as const;

/** The scope that a call requires unless its procedure names another: a query reads, a mutation may write. */
export const DEFAULT_SCOPES = { query: "read", mutation: "everything" } as const satisfies Record<string, Scope>;

export function reachesScope(scope: Scope | null, required: Scope): boolean {
  return scope !== null && SCOPES.indexOf(scope) >= SCOPES.indexOf(required);
}

/** The scopes that a scope includes, with itself, in ascending order. */
export function includedScopes(scope: Scope): readonly Scope[] {
  return SCOPES.slice(0, SCOPES.indexOf(scope) + 1);
}

/** The highest scope among the names in a space-separated list; `null` when it contains no scope of the service. */
export function highestScope(names: string): Scope | null {
  const list = names.split(" ");
  return SCOPES.findLast((scope) => list.includes(scope)) ?? null;
}
