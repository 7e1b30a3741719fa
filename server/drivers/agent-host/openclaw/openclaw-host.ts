import {
  AgentHostError,
  type HostedAgents,
  type HostedInstructions,
  type HostedPage,
  type HostedSession,
  type HostedSkills,
  type HostedTranscript,
  type ConnectedHost,
  type ListHostedSessions,
  type ReadTranscript,
  type WriteInstructions,
} from "../../../../domain/ports/agent-host.ts";
import { decodeNumberCursor, encodeNumberCursor } from "../../../../domain/shared/keyset-cursor.ts";
import type { GatewayConnection } from "./gateway-connection.ts";
import { toHostedAgents } from "./hosted-agents.ts";
import { toHostedSession } from "./hosted-sessions.ts";
import { toHostedSkill } from "./hosted-skills.ts";
import { readFile, writeFile } from "./instruction-file.ts";
import type { ReconnectingConnection } from "./reconnecting-connection.ts";
import { readHistory } from "./read-history.ts";

const MAX_OFFSET_DIGITS = 7;
const MAX_SKILLS = 1000;

type TakeTurn = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** The agents of one OpenClaw gateway. */
export class OpenClawHost implements ConnectedHost {
  readonly #connection: ReconnectingConnection;
  readonly #connectToWrite: (signal: AbortSignal) => Promise<GatewayConnection>;
  readonly #takeTurn: TakeTurn;

  /**
   * @param connectToWrite - opens a connection that may replace files
   * @param takeTurn - runs what reads the list of agents when it is its turn
   */
  constructor(
    connection: ReconnectingConnection,
    connectToWrite: (signal: AbortSignal) => Promise<GatewayConnection>,
    takeTurn: TakeTurn,
  ) {
    this.#connection = connection;
    this.#connectToWrite = connectToWrite;
    this.#takeTurn = takeTurn;
  }

  get problem(): AgentHostError | "connecting" | null {
    return this.#connection.problem;
  }

  async listAgents(signal: AbortSignal): Promise<HostedAgents> {
    // A gateway that cannot be reached takes no turn.
    const connection = await this.#connection.get(signal);
    const read = () => connection.request("agents.list", {}, signal);
    return toHostedAgents(await this.#takeTurn(read, signal));
  }

  async listSessions(
    { agentId, limit, cursor }: ListHostedSessions,
    signal: AbortSignal,
  ): Promise<HostedPage<HostedSession>> {
    const offset = cursor === undefined ? 0 : decodeOffset(cursor);
    const page = { limit, ...(offset > 0 && { offset }), ...(agentId !== null && { agentId }) };
    const params = { ...page, includeDerivedTitles: true };
    const { sessions, hasMore } = await (await this.#connection.get(signal)).request("sessions.list", params, signal);
    const items = sessions.flatMap((session, index) => {
      const item = toHostedSession(session);
      const isWanted = item !== null && (agentId === null || item.agentId === agentId);
      return isWanted ? [{ item, cursor: encodeNumberCursor(offset + index + 1) }] : [];
    });
    const isLast = sessions.length === 0 || !(hasMore ?? sessions.length >= limit);
    return { items, next: isLast ? null : encodeNumberCursor(offset + sessions.length) };
  }

  async readTranscript(request: ReadTranscript, signal: AbortSignal): Promise<HostedTranscript> {
    return readHistory(await this.#connection.get(signal), request, signal);
  }

  async listSkills(agentId: string, signal: AbortSignal): Promise<HostedSkills> {
    const { skills } = await (await this.#connection.get(signal)).request("skills.status", { agentId }, signal);
    if (skills.length > MAX_SKILLS)
      throw new AgentHostError("unsupported", `The agent has more than ${MAX_SKILLS} skills.`);
    return { skills: skills.map(toHostedSkill), note: null };
  }

  async readInstructions(agentId: string, signal: AbortSignal): Promise<HostedInstructions> {
    const { instructions } = await readFile(await this.#connection.get(signal), agentId, signal);
    return instructions;
  }

  async writeInstructions(request: WriteInstructions, signal: AbortSignal): Promise<HostedInstructions> {
    // A gateway that is known to be unreachable fails here at once.
    await this.#connection.get(signal);
    const connection = await this.#connectToWrite(signal);
    try {
      return await writeFile(connection, request, signal);
    } finally {
      connection.close();
    }
  }
}

function decodeOffset(cursor: string): number {
  try {
    return decodeNumberCursor(cursor, MAX_OFFSET_DIGITS);
  } catch (error) {
    throw new AgentHostError("invalid_cursor", "The cursor is not one of this list.", { cause: error });
  }
}
