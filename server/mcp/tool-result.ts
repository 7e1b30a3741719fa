/** What a call of a tool comes to: the same twice, once for programs and once, as its JSON, for readers. */
export interface ToolResult {
  content: { type: "text"; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
}

/** Of what cannot change: its result, and that as JSON. */
const results = new WeakMap<object, ToolResult>();
const written = new WeakMap<ToolResult, string>();

/** The result that a value is. */
export function resultFrom(value: Record<string, unknown>): ToolResult {
  const known = results.get(value);
  if (known !== undefined) return known;
  const result: ToolResult = { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
  if (Object.isFrozen(value)) results.set(value, result);
  return result;
}

/** A result as JSON. */
export function jsonOf(result: ToolResult): string {
  const known = written.get(result);
  if (known !== undefined) return known;
  const { content, structuredContent, isError } = result;
  // The value has been written once, as its text, which need not be done again.
  const value = structuredContent === undefined ? "" : `,"structuredContent":${content[0]?.text}`;
  const json = `{"content":${JSON.stringify(content)}${value}${isError ? ',"isError":true' : ""}}`;
  if (structuredContent !== undefined && Object.isFrozen(structuredContent)) written.set(result, json);
  return json;
}
