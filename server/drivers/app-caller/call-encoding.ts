import { AppCallFailed, type AppCall, type ProcedureResult } from "../../../domain/ports/app-caller.ts";
import { isRecord, parseJson, stringifyJson } from "../../../domain/shared/json.ts";
import type { Invocation } from "../../../domain/ports/procedure-discovery.ts";
import type { AppRequest, AppResponse } from "./send-app-request.ts";

/** How calls of one protocol are written as HTTP requests, and how the responses are read. */
export interface CallEncoding<Via extends Invocation["via"]> {
  /** @throws {InvalidArguments} before anything is sent */
  encode(call: AppCall, invocation: Extract<Invocation, { via: Via }>): AppRequest;
  /** @throws {AppCallFailed} when the response cannot be read */
  decode(response: AppResponse, invocation: Extract<Invocation, { via: Via }>): ProcedureResult;
}

/** The arguments cannot be sent. The message says which one, and what is valid. */
export class InvalidArguments extends Error {
  override readonly name = "InvalidArguments";
}

/**
 * The arguments of an OpenAPI operation and of an MCP tool have names, so the input is an object. A program may put dates, sets
 * and bigints into it, which become JSON.
 *
 * @throws {InvalidArguments}
 */
export function toInputObject(input: unknown): Record<string, unknown> {
  if (input === undefined || input === null) return {};
  const json = toJsonValue(input);
  if (isRecord(json)) return json;
  throw new InvalidArguments("The input must be an object with the arguments of the operation.");
}

function toJsonValue(input: unknown): unknown {
  try {
    return JSON.parse(stringifyJson(input));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InvalidArguments("The input is nested too deeply.");
  }
}

export const JSON_HEADERS = { "content-type": "application/json", accept: "application/json" };

/** Longer messages of an app are cut: far above a list of issues, which is formatted and shortened later. */
const MAX_MESSAGE_CHARACTERS = 32_000;

export function toFailedResult({ status }: Pick<AppResponse, "status">, message: unknown): ProcedureResult {
  const text = typeof message === "string" && message !== "" ? message : "The app gave no reason.";
  return { ok: false, status, message: text.slice(0, MAX_MESSAGE_CHARACTERS) };
}

/** @throws {AppCallFailed} when the body is not a JSON object or array */
export function parseBody({ text, status }: AppResponse): object {
  const value = parseJson(text);
  if (typeof value === "object" && value !== null) return value;
  throw new AppCallFailed(`The app responded with status ${status} and a body that is not a JSON object.`);
}
