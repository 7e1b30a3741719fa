export interface PathMapping {
  from: string;
  to: string;
}

/**
 * Translates text with paths inside a sandbox to paths of the host. Every path at or below the `to` of a mapping
 * becomes the path at or below its `from`, anywhere in the text.
 */
export function toHostPaths(mappings: readonly PathMapping[]): (text: string) => string {
  // The longest first, because a mapping below another one is more specific.
  const ordered = mappings.toSorted((a, b) => b.to.length - a.to.length);
  const inside = ordered.map((mapping) => RegExp.escape(mapping.to)).join("|");
  const pattern = new RegExp(`(?<=^|[^\\w./-]|file://)(?:${inside})(?![\\w.-])`, "g");
  const hostPathByInside = new Map(ordered.map((mapping) => [mapping.to, mapping.from]));
  return (text) => text.replace(pattern, (path) => hostPathByInside.get(path) ?? path);
}
