import { diff3Merge } from "node-diff3";

/** A part of two texts that were changed independently. */
export type MergePart =
  | { kind: "merged"; text: string }
  /** Both changed the same lines. */
  | { kind: "conflict"; mine: string; theirs: string };

export const RESOLUTIONS = ["mine", "theirs", "both"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** Merges two changes of one text line by line. */
export function mergeTexts({ mine, base, theirs }: { mine: string; base: string; theirs: string }): MergePart[] {
  const regions = diff3Merge(splitLines(mine), splitLines(base), splitLines(theirs), { excludeFalseConflicts: true });
  return regions.map(({ ok, conflict }) =>
    conflict === undefined
      ? { kind: "merged", text: (ok ?? []).join("") }
      : { kind: "conflict", mine: conflict.a.join(""), theirs: conflict.b.join("") },
  );
}

/** Returns the merged text. Each conflict needs a resolution, at the index of its part. */
export function joinParts(parts: readonly MergePart[], resolutions: ReadonlyMap<number, Resolution>): string {
  return parts
    .map((part, index) => (part.kind === "merged" ? part.text : resolve(part, resolutions.get(index))))
    .reduce(append, "");
}

function resolve({ mine, theirs }: { mine: string; theirs: string }, resolution: Resolution | undefined): string {
  if (resolution === undefined) throw new Error("A conflict is not resolved.");
  return { mine, theirs, both: append(mine, theirs) }[resolution];
}

/** The last line of a text may have no line break. */
function append(text: string, more: string): string {
  return text === "" || more === "" || text.endsWith("\n") ? text + more : `${text}\n${more}`;
}

/** Each line keeps its line break. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
