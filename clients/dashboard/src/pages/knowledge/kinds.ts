/** Pairs of value and label, for selects. */
export const KINDS = [
  ["policy", "Policy"],
  ["pricing", "Pricing"],
  ["brand", "Brand"],
  ["sop", "SOP"],
  ["faq", "FAQ"],
] as const;

export const labelOf = (kind: string | null): string => KINDS.find(([value]) => value === kind)?.[1] ?? "";

/** The key of every query about the documents of an organization. */
export const knowledgeKey = (orgId: string) => ["knowledge", orgId];
