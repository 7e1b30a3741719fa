/** What a call of a tool comes to: the same twice, once for programs and once, as its JSON, for readers. */
export interface ToolResult {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
}

/** A result as JSON. Its value has been written once, as its text, which need not be done again. */
export function jsonOf({ content, structuredContent, isError }: ToolResult): string {
  const value = structuredContent === undefined ? "" : `,"structuredContent":${content[0]?.text}`;
  return `{"content":${JSON.stringify(content)}${value}${isError ? ',"isError":true' : ""}}`;
}
