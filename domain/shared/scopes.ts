/** In ascending order. Each scope includes the scopes before it. */
export const SCOPES = ["read", "deploy", "everything"] as const;

export type Scope = (typeof SCOPES)[number];

/** What a scope adds to the scopes before it. `null`: nothing. */
interface ScopeDescription {
  /** For lists of scopes. */
  summary: string;
  rest: string;
  tools: string | null;
  programs: string | null;
}

/**
 * The only description of the scopes: docs/scopes.md, the OpenAPI document, the consent page and the tokens page show it.
 * The checks use the scope of each procedure, which docs/scopes.md lists too.
 */
export const SCOPE_DESCRIPTIONS = {
  read: {
    summary: "Read apps, logs and usage, and call procedures of apps that only read",
    rest: "Read apps with their app tokens, build and runtime logs, variables except secrets, and the list of tokens",
    tools: "Search and list apps, read usage, call procedures of apps that only read, and run programs",
    programs: "Call the tools and the procedures of apps that only read",
  },
  deploy: {
    summary: "Also deploy, update and roll back apps",
    rest: "Deploy apps, also again, cancel deployments, roll back, and change names, branches and variables",
    tools: "Deploy apps, also again, and roll back",
    programs: "Deploy apps, also again, and roll back",
  },
  everything: {
    summary: "Everything that your role permits",
    rest: "Delete apps, replace their tokens, issue and revoke tokens, and read the audit log",
    tools: "Call every procedure of apps, also procedures that change or delete data",
    programs: "Call every procedure of apps, also procedures that change or delete data",
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
