import type { DocumentOwner } from "../documents/document-owner.ts";
import type { Caller } from "../shared/caller.ts";

/** The Company Knowledge of the caller's organization. */
export function knowledgeOf({ orgId }: Caller): DocumentOwner {
  return { orgId, projectId: null };
}
