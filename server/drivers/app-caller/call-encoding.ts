import superjson from "superjson";
import type { AppAnswer, AppCall } from "../../../domain/ports/app-caller.ts";
import { AppOutOfReach } from "../../../domain/ports/app-caller.ts";
import type { Invocation } from "../../../domain/ports/procedure-discovery.ts";
import type { AppRequest, AppResponse } from "./send-request.ts";

/** How calls of one kind are written down, and their answers read. */
interface Dialect<V extends Invocation["via"]> {
  write(call: AppCall, invocation: Extract<Invocation, { via: V }>): AppRequest;
  read(response: AppResponse, invocation: Extract<Invocation, { via: V }>): AppAnswer;
}

const JSON_BODY = { "content-type": "application/json", accept: "application/json" };

const trpc: Dialect<"trpc"> = {
  write({ name, kind, input }, { endpoint, transformer }) {
    const payload = JSON.stringify(transformer === "superjson" ? superjson.serialize(input) : input);
    const path = `${endpoint}/${encodeURIComponent(name)}`;
    if (kind === "mutation") return { method: "POST", path, headers: JSON_BODY, body: payload };
    return { method: "GET", path: `${path}?input=${encodeURIComponent(payload)}`, headers: JSON_BODY, body: null };
  },
  read(response, { transformer }) {
    const body = parsed(response) as {
      result?: { data?: unknown };
      error?: { message?: unknown; json?: { message?: unknown } };
    };
    if (body.result === undefined) return failure(response, body.error?.message ?? body.error?.json?.message);
    const { data } = body.result;
    return { ok: true, output: transformer === "superjson" ? superjson.deserialize(data as never) : data };
  },
};

const openapi: Dialect<"openapi"> = {
  write({ input }, { method, path, parameters, body }) {
    const query = new URLSearchParams();
    const headers: Record<string, string> = { accept: "application/json" };
    const rest = { ...input };
    let target = path;
    for (const { name, in: place, property, explode } of parameters) {
      const value = rest[property];
      delete rest[property];
      if (value === undefined) continue;
      if (place === "path") target = target.replaceAll(`{${name}}`, encodeURIComponent(plain(value)));
      else if (place === "header") headers[name.toLowerCase()] = plain(value).replaceAll(/[\r\n]/g, " ");
      else if (explode && Array.isArray(value)) for (const each of value) query.append(name, plain(each));
      else query.set(name, plain(value));
    }
    const search = query.size === 0 ? "" : `?${query.toString()}`;
    if (body === null) return { method, path: target + search, headers, body: null };
    const content = body.property === null ? rest : input[body.property];
    headers["content-type"] = body.contentType;
    return { method, path: target + search, headers, body: encoded(content, body.contentType) };
  },
  read(response) {
    if (response.status >= 400) return failure(response, response.text);
    const isJson = /\bjson\b/.test(response.contentType);
    return { ok: true, output: response.text === "" ? null : isJson ? parsed(response) : response.text };
  },
};

const mcp: Dialect<"mcp"> = {
  write({ input }, { endpoint, tool }) {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: tool, arguments: input },
    });
    const headers = { ...JSON_BODY, accept: "application/json, text/event-stream" };
    return { method: "POST", path: endpoint, headers, body };
  },
  read(response) {
    const message = (response.contentType.startsWith("text/event-stream") ? lastEvent(response) : parsed(response)) as {
      result?: { isError?: boolean; structuredContent?: unknown; content?: { text?: string }[] };
      error?: { message?: unknown };
    };
    const { result } = message;
    if (result === undefined) return failure(response, message.error?.message);
    const text = (result.content ?? []).map((part) => part.text ?? "").join("\n");
    if (result.isError === true) return failure(response, text);
    return { ok: true, output: result.structuredContent ?? text };
  },
};

export function writeCall(call: AppCall): AppRequest {
  const { invocation } = call;
  if (invocation.via === "trpc") return trpc.write(call, invocation);
  return invocation.via === "openapi" ? openapi.write(call, invocation) : mcp.write(call, invocation);
}

export function readAnswer(response: AppResponse, invocation: Invocation): AppAnswer {
  if (invocation.via === "trpc") return trpc.read(response, invocation);
  return invocation.via === "openapi" ? openapi.read(response, invocation) : mcp.read(response, invocation);
}

/** Longer words of an app than this are cut, in characters. */
const LONGEST_MESSAGE = 2000;

function failure({ status }: AppResponse, message: unknown): AppAnswer {
  const words = typeof message === "string" && message !== "" ? message : "The app gave no reason.";
  return { ok: false, status, message: words.slice(0, LONGEST_MESSAGE) };
}

function parsed({ text, status }: AppResponse): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Told below, like any other answer that is no object.
  }
  throw new AppOutOfReach(`The app answered ${status} with something that is no JSON object.`);
}

function lastEvent(response: AppResponse): unknown {
  const data = [...response.text.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line ?? "");
  return parsed({ ...response, text: data.at(-1) ?? "" });
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function encoded(content: unknown, contentType: string): string {
  if (contentType === "application/json") return JSON.stringify(content ?? {});
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(content ?? {})) form.set(name, plain(value));
  return form.toString();
}
