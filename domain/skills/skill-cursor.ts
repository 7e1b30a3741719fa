import { invalidCursor } from "../shared/keyset-cursor.ts";
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
  throw invalidCursor();
}

/** Encodes the cursor of the list of an agent. */
export function encodePositionCursor({ eligible, name }: AgentSkillPosition): string {
  return `${eligible ? "1" : "0"}${encodeNameCursor(name)}`;
}

/** @throws {ServiceError} `invalid` for a cursor that this service did not return */
export function decodePositionCursor(cursor: string): AgentSkillPosition {
  const position = { eligible: cursor.startsWith("1"), name: Buffer.from(cursor.slice(1), "base64url").toString() };
  // The names of skills in a gateway can be other ones than those of this service.
  if (position.name !== "" && encodePositionCursor(position) === cursor) return position;
  throw invalidCursor();
}
