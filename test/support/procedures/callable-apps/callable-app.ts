/** An app, and calls of its procedures with what they return. */
export interface CallableApp {
  what: string;
  /** The name of the repository. */
  name: string;
  files: Record<string, string>;
  /** What the owner reads about procedures that are not offered. `null` by default. */
  statusMessage?: unknown;
  calls: CallOfProcedure[];
}

export interface CallOfProcedure {
  procedure: string;
  /** The input in a program, as an expression. */
  input: string;
  /** The arguments of the direct tool. */
  args: object;
  /** What the call in a program returns, as JSON. */
  output: unknown;
  /** What the direct tool returns, if it is something else. */
  toolOutput?: unknown;
}
