/** The instructions of an agent as they are stored. */
export interface InstructionsVersion {
  content: string;
  content_hash: string;
  /** 0 if the content is not stored as a revision. */
  revision: number;
}

/** Instructions that were edited and not saved. */
export interface InstructionsDraft {
  text: string;
  /** The version that was edited. */
  base: InstructionsVersion;
  /** When the text was last changed: ISO 8601. */
  changedAt: string;
}

/** Names the draft of an agent in the storage of the browser. */
export function draftKey(organizationId: string, agentId: string): string {
  return `instructions-draft:${organizationId}:${agentId}`;
}

/** Returns `null` if there is no draft, or if it is unreadable. */
export function readDraft(key: string): InstructionsDraft | null {
  try {
    const draft: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
    return isDraft(draft) ? draft : null;
  } catch {
    return null;
  }
}

/** @returns whether the browser stored the draft: it refuses if its storage is full or turned off */
export function storeDraft(key: string, draft: InstructionsDraft): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export function removeDraft(key: string): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // Without storage there is no draft.
  }
}

function isDraft(value: unknown): value is InstructionsDraft {
  const { text, base, changedAt } = (value ?? {}) as Partial<InstructionsDraft>;
  return (
    typeof text === "string" &&
    typeof changedAt === "string" &&
    !Number.isNaN(Date.parse(changedAt)) &&
    typeof base?.content === "string" &&
    typeof base.content_hash === "string" &&
    typeof base.revision === "number"
  );
}
