/** What a tool does to its environment, for clients that ask the user first (MCP, ToolAnnotations). */
export interface ToolAnnotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

/** A tool that changes nothing. */
export const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** A tool that replaces something. Calling it again changes nothing more. */
export const REPLACES: ToolAnnotations = { ...READS, readOnlyHint: false, destructiveHint: true };

/** A tool that starts a deployment, which reads a repository. */
export const STARTS_DEPLOYMENT: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};
