export interface PathMapping {
  from: string;
  to: string;
}

/**
 * Rewrites text written for the inside of a sandbox to run outside of one: every path at or below a mapping's `to`,
 * wherever it stands in the text, becomes the path at or below its `from`.
 */
export function hostPaths(mappings: readonly PathMapping[]): (text: string) => string {
  // The longest first: a mapping inside another one is the more particular.
  const ordered = mappings.toSorted((a, b) => b.to.length - a.to.length);
  const inside = ordered.map((mapping) => RegExp.escape(mapping.to)).join("|");
  const pattern = new RegExp(`(?<=^|[^\\w./-]|file://)(?:${inside})(?![\\w.-])`, "g");
  const hostPathOf = new Map(ordered.map((mapping) => [mapping.to, mapping.from]));
  return (text) => text.replace(pattern, (path) => hostPathOf.get(path) ?? path);
}
