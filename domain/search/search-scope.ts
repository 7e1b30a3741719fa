/** What a scope contains. `procedures` are those of an organization's apps. */
export type SearchScopeKind = "knowledge" | "project" | "memory" | "transcripts" | "procedures";

/** Identifies the texts that are searched and ranked together. A search of one scope reads no row of another. */
export interface ScopeKey {
  orgId: string;
  kind: SearchScopeKind;
  /** The organization (knowledge, procedures), the project, the agent (memory) or the server (transcripts). */
  ownerId: string;
}
