import { SERVER } from "../server-name.ts";
import { type ListedTool, listViolations, type Provider } from "../../support/procedures/provider-rules.ts";

/** What the scripted model reads from a request, and its response. */
export interface ModelAnswer {
  tools: string[];
  /** Why the real API would refuse the whole request; empty for a valid one. */
  violations: string[];
  /** The result of the tool call; `null` before the client called it. */
  toolResult: string | null;
  contentType: string;
  body: string;
}

/** Reads the request of an API and writes the response of the scripted model. */
export type ModelApi = (request: unknown, pathname: string) => ModelAnswer;

/** What the model says next: a call of the tool, or a text. */
export type Turn = { call: string } | { text: string };

/** Decides the next turn: first the call, then a text with the result. Requests without the tool get a text. */
export function nextTurn(tools: string[], toolResult: string | null): Turn {
  const call = tools.find((name) => name.endsWith("service_list_apps"));
  if (toolResult !== null) return { text: `The apps are: ${toolResult}` };
  return call === undefined ? { text: "ok" } : { call };
}

/** Checks the tools of a request that come from the gateway: the client's own tools are those of its vendor. */
export function checkTools(tools: readonly ListedTool[], providerOf: (tool: ListedTool) => Provider): string[] {
  const fromGateway = tools.filter(({ name }) => name.includes(SERVER) || /-[a-z0-9]{6}_/.test(name));
  return fromGateway.flatMap((tool) =>
    listViolations(tool, providerOf(tool)).map((violation) => `${tool.name}: ${violation}`),
  );
}

export function eventStream(events: { type: string }[]): Pick<ModelAnswer, "contentType" | "body"> {
  const lines = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  return { contentType: "text/event-stream", body: lines.join("") };
}

export function jsonBody(body: unknown): Pick<ModelAnswer, "contentType" | "body"> {
  return { contentType: "application/json", body: JSON.stringify(body) };
}
