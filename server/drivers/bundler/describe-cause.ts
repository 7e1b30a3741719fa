/** Chooses the line of a tool's output that says why it failed. */
export function describeCause(lines: readonly string[]): string {
  return lines.at(-1) ?? "it printed no reason.";
}
