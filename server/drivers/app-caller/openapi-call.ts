import type { Invocation, RequestBody } from "../../../domain/ports/procedure-discovery.ts";
import { isRecord } from "../../../domain/shared/json.ts";
import { type CallEncoding, parseBody, toFailedResult } from "./call-encoding.ts";

type OpenApiInvocation = Extract<Invocation, { via: "openapi" }>;

/** Plain HTTP, as the OpenAPI document of the app describes it. */
export const openApiCall: CallEncoding<"openapi"> = {
  encode(call, invocation) {
    const { method, body } = invocation;
    const input = isRecord(call.input) ? call.input : {};
    const { path, headers, rest } = placeParameters(input, invocation);
    if (body === null) return { method, path, headers, body: null };
    const content = body.property === null ? rest : input[body.property];
    headers["content-type"] = body.contentType;
    return { method, path, headers, body: encodeBody(content, body.contentType) };
  },

  decode(response) {
    if (response.status >= 400) return toFailedResult(response, response.text);
    if (response.text === "") return { ok: true, output: null };
    const isJson = /\bjson\b/.test(response.contentType);
    return { ok: true, output: isJson ? parseBody(response) : response.text };
  },
};

/** Puts each parameter in its place. `rest` has the properties of the input that are not parameters. */
function placeParameters(
  input: Record<string, unknown>,
  { path: template, parameters }: OpenApiInvocation,
): { path: string; headers: Record<string, string>; rest: Record<string, unknown> } {
  const query = new URLSearchParams();
  const headers: Record<string, string> = { accept: "application/json" };
  const rest = { ...input };
  let path = template;
  for (const { name, in: location, property, explode } of parameters) {
    const value = rest[property];
    delete rest[property];
    if (value === undefined) continue;
    if (location === "path") path = path.replaceAll(`{${name}}`, encodeURIComponent(toText(value)));
    // A line break would end the header.
    else if (location === "header") headers[name.toLowerCase()] = toText(value).replaceAll(/[\r\n]/g, " ");
    else if (explode && Array.isArray(value)) for (const item of value) query.append(name, toText(item));
    else query.set(name, toText(value));
  }
  return { path: query.size === 0 ? path : `${path}?${query.toString()}`, headers, rest };
}

function encodeBody(content: unknown, contentType: RequestBody["contentType"]): string {
  if (contentType === "application/json") return JSON.stringify(content ?? {});
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(content ?? {})) form.set(name, toText(value));
  return form.toString();
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
