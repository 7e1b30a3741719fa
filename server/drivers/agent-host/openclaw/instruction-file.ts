import {
  AgentHostError,
  type HostedInstructions,
  InstructionsConflict,
  MAX_INSTRUCTION_BYTES,
  type WriteInstructions,
} from "../../../../domain/ports/agent-host.ts";
import { sha256Hex } from "../../../../domain/shared/sha256.ts";
import type { GatewayConnection } from "./gateway-connection.ts";
import type { GatewayFile } from "./gateway-schemas.ts";

const NAME = "AGENTS.md";

export interface InstructionFile {
  instructions: HostedInstructions;
  exists: boolean;
  /** Whether the gateway compares the hash itself, so that no other change can come between. */
  comparesHash: boolean;
}

export async function readFile(
  connection: GatewayConnection,
  agentId: string,
  signal: AbortSignal,
): Promise<InstructionFile> {
  const params = { agentId, name: NAME };
  const { file } = await connection.request("agents.files.get", params, signal);
  return { instructions: toInstructions(file), exists: !file.missing, comparesHash: typeof file.hash === "string" };
}

/** @throws {InstructionsConflict} */
export async function writeFile(
  connection: GatewayConnection,
  { agentId, content, expectedHash }: WriteInstructions,
  signal: AbortSignal,
): Promise<HostedInstructions> {
  const current = await readFile(connection, agentId, signal);
  if (current.instructions.hash !== expectedHash) throw new InstructionsConflict(current.instructions.hash);
  if (current.exists && !current.comparesHash)
    throw new AgentHostError(
      "unsupported",
      "The version of the gateway cannot replace instructions without losing simultaneous changes. Update OpenClaw to 2026.9 or later.",
    );
  // A gateway rejects every hash for a file that does not exist.
  const params = { agentId, name: NAME, content, ...(current.exists && { expectedHash }) };
  const { file } = await connection.request("agents.files.set", params, signal);
  const written = toInstructions(file);
  if (written.hash === sha256Hex(content)) return { ...written, content };
  throw new AgentHostError("invalid_response", "The gateway reports other instructions than those that were sent.");
}

function toInstructions({ missing, content, hash, updatedAtMs }: GatewayFile): HostedInstructions {
  const updatedAt = typeof updatedAtMs === "number" ? new Date(updatedAtMs) : null;
  if (missing) return { content: "", hash: sha256Hex(""), updatedAt, revision: null };
  if (typeof content !== "string")
    throw new AgentHostError("invalid_response", `The gateway sends no content of ${NAME}.`);
  if (Buffer.byteLength(content) > MAX_INSTRUCTION_BYTES)
    throw new AgentHostError(
      "unsupported",
      `The ${NAME} of the agent has more than ${MAX_INSTRUCTION_BYTES} bytes, the limit for instructions.`,
    );
  const ownHash = sha256Hex(content);
  // The hash of other bytes than the content means that the gateway could not decode all of them.
  if ((hash ?? ownHash) !== ownHash || !content.isWellFormed() || content.includes("\0"))
    throw new AgentHostError("unsupported", `The ${NAME} of the agent is not UTF-8 text without NUL characters.`);
  return { content, hash: ownHash, updatedAt, revision: null };
}
