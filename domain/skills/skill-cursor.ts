import { ServiceError } from "../shared/errors.ts";
import { isSkillName } from "./skill-rules.ts";

/** The position of a skill in the list of an agent, which is sorted by both. */
export interface AgentSkillPosition {
  eligible: boolean;
  name: string;
}

/** Encodes the cursor of a list of skills that is sorted by name. */
export function encodeNameCursor(name: string): string {
  return Buffer.from(name).toString("base64url");
}

/** @throws {ServiceError} `invalid` for a cursor that this service did not return */
export function decodeNameCursor(cursor: string): string {
  const name = Buffer.from(cursor, "base64url").toString();
  if (isSkillName(name)) return name;
  throw new ServiceError(
    "invalid",
    "cursor: invalid cursor. Pass the next_cursor of an earlier page unchanged, or omit it to start again.",
  );
}

/** Encodes the cursor of the list of an agent. */
export function encodePositionCursor({ eligible, name }: AgentSkillPosition): string {
  return `${eligible ? "1" : "0"}${encodeNameCursor(name)}`;
}

/** @throws {ServiceError} `invalid` for a cursor that this service did not return */
export function decodePositionCursor(cursor: string): AgentSkillPosition {
  const name = decodeNameCursor(/^[01]/.test(cursor) ? cursor.slice(1) : "");
  return { eligible: cursor.startsWith("1"), name };
}
