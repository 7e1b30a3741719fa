/** What a scope contains. `procedures` are those of an organization's apps. */
export const SEARCH_SCOPE_KINDS = ["knowledge", "project", "memory", "transcripts", "procedures"] as const;
export type SearchScopeKind = (typeof SEARCH_SCOPE_KINDS)[number];

/** Identifies the texts that are searched and ranked together. A search of one scope reads no row of another. */
export interface ScopeKey {
  orgId: string;
  kind: SearchScopeKind;
  /** The organization (knowledge, procedures), the project, the agent (memory) or the server (transcripts). */
  ownerId: string;
}
