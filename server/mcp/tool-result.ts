/** What a call of a tool comes to: the same twice, once for programs and once as text. */
export interface ToolResult {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
}
