import type { ProcedureKind } from "../../domain/ports/procedure-discovery.ts";
import type { ProcedureResult } from "../../domain/ports/app-caller.ts";
import { stringifyJson } from "../../domain/shared/json.ts";
import { RESPONSE_CHARACTERS, truncateText } from "../../domain/shared/response-budget.ts";
import { type PassedBlock, showContent, toOutput } from "./direct-tool-content.ts";

/** The characters of a result without the app's response. */
const ENVELOPE_CHARACTERS = 600;

export interface FormattedResult {
  /**
   * The structured content, as JSON: exactly one of `output`, `output_cut` and `app_error`. A `note` follows `output_cut`, and
   * `output` if parts of the result were left out.
   */
  text: string;
  isError: boolean;
  /** Content blocks that follow the text. */
  blocks: readonly PassedBlock[];
}

/**
 * Formats the result of a procedure as JSON within the size limit. All text of the app, errors included, stays data.
 * Images, sounds and resources of an MCP tool become content blocks, within limits of their own.
 */
export function formatProcedureResult(result: ProcedureResult, kind: ProcedureKind): FormattedResult {
  if (!result.ok) return formatAppError(result.status, result.message);
  const { output, content } = result;
  if (content === undefined) return { ...formatOutput(output, kind, []), blocks: [] };
  const { isOutput } = content;
  // The texts of resources are part of the output, too, so that their blocks get only the room that the output leaves.
  const size = serialize(isOutput ? toOutput(content) : output)?.length ?? 0;
  const shown = showContent(content, Math.max(0, RESPONSE_CHARACTERS - ENVELOPE_CHARACTERS - size));
  return { ...formatOutput(isOutput ? shown.output : output, kind, shown.notes), blocks: shown.blocks };
}

function formatOutput(output: unknown, kind: ProcedureKind, notes: readonly string[]): Omit<FormattedResult, "blocks"> {
  const json = serialize(output);
  if (json === null) return formatAppError(502, "The app's response is nested too deeply.");
  if (json.length + ENVELOPE_CHARACTERS > RESPONSE_CHARACTERS) return { text: cut(json, kind), isError: false };
  if (notes.length === 0) return { text: `{"output":${json}}`, isError: false };
  const advice = `${warn(kind)} A program in service_execute receives all parts with their data.`;
  return { text: `{"output":${json},"note":${JSON.stringify(`${notes.join(" ")}${advice}`)}}`, isError: false };
}

function formatAppError(status: number, message: string): FormattedResult {
  const error = { app_error: { status, message } };
  return { text: JSON.stringify(error), isError: true, blocks: [] };
}

function warn(kind: ProcedureKind): string {
  return kind === "query" ? "" : " The procedure was carried out: do not repeat the call to see its response.";
}

/** Serializes a response; `null` when it is nested more deeply than the stack allows. */
function serialize(output: unknown): string | null {
  try {
    return stringifyJson(output);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function cut(json: string, kind: ProcedureKind): string {
  const shown = cutToEscapedLength(json, RESPONSE_CHARACTERS - ENVELOPE_CHARACTERS);
  const note = `The app's response has ${json.length} characters of JSON; output_cut contains the first ${shown.length}.${warn(kind)} Request less from the procedure, or call it in service_execute, which accepts longer responses, and print only what you need.`;
  return JSON.stringify({ output_cut: shown, note });
}

/** The longest beginning of some JSON that needs at most `maxLength` characters as a JSON string. */
function cutToEscapedLength(json: string, maxLength: number): string {
  let end = 0;
  let length = 2;
  while (end < json.length && length <= maxLength) {
    length += /["\\]/.test(json[end] ?? "") ? 2 : 1;
    end += 1;
  }
  return truncateText(json, length > maxLength ? end - 1 : end);
}
