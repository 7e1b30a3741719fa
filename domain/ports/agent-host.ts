import type { Caller } from "../shared/caller.ts";

/** Each reason for which an agent host does not do what was requested. */
export const AGENT_HOST_ERROR_CODES = [
  /** There is no connection: the address is wrong, the host is down, or an earlier attempt failed a moment ago. */
  "unreachable",
  "timed_out",
  /** The host does not accept the token, or not for this operation. */
  "unauthorized",
  /** The response is too large, or nothing that the host may send. Nothing of it was used. */
  "invalid_response",
  "not_found",
  /** The instructions are not those that the caller expected. */
  "conflict",
  /** The host cannot do it, for example because its version is too old. */
  "unsupported",
  /** Too many calls of the same host are waiting for a response. */
  "overloaded",
  /** The cursor is not one that the host returned for this list, or the list has been replaced since. */
  "invalid_cursor",
] as const;

export type AgentHostErrorCode = (typeof AGENT_HOST_ERROR_CODES)[number];

/**
 * The only error that the operations of a host throw. The message is a sentence for the caller. It contains no token, and
 * no text of the host.
 */
export class AgentHostError extends Error {
  override readonly name = "AgentHostError";
  readonly code: AgentHostErrorCode;

  constructor(code: AgentHostErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The instructions have changed since the caller read them. */
export class InstructionsConflict extends AgentHostError {
  /** The hash of the current instructions. */
  readonly currentHash: string;

  constructor(currentHash: string) {
    super("conflict", "The instructions have changed since.");
    this.currentHash = currentHash;
  }
}

export interface HostedAgent {
  /** Identifies the agent on its host. */
  id: string;
  /** One line, at most 100 characters. */
  name: string;
  /** At most 100 visible ASCII characters; `null` when it is not known. */
  model: string | null;
}

export interface HostedAgents {
  /** One of `agents`. */
  mainId: string;
  /** At most {@link MAX_HOSTED_AGENTS}, with different ids. */
  agents: readonly HostedAgent[];
}

export const MAX_HOSTED_AGENTS = 100;

/** The counted tokens of a session. `input` is without those that were read from a cache or written to one. */
export interface SessionTokens {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  total: number;
}

export interface HostedSession {
  /** Identifies the session on its host: at most 500 characters. */
  id: string;
  /** The id that the program of the agent has given. */
  externalId: string;
  agentId: string;
  title: string | null;
  createdAt: Date;
  updatedAt: Date;
  /** `null` while entries can be added. */
  closedAt: Date | null;
  /** `null` when the host does not count them. */
  messageCount: number | null;
  tokens: SessionTokens;
}

export const TRANSCRIPT_ROLES = ["user", "assistant", "system", "tool"] as const;

export type TranscriptRole = (typeof TRANSCRIPT_ROLES)[number];

/** A message, a tool call or a tool result. */
export interface HostedEntry {
  /** From 1 on, in the order of the transcript. A message and its tool calls can have the same number. */
  seq: number;
  /** The id that the program of the agent has given; `null` when the host has none. */
  id: string | null;
  role: TranscriptRole;
  /** Text; the arguments of a tool call as JSON. Cut after `maxCharacters` of the request. */
  content: string;
  /** The size of the whole content, in bytes of UTF-8; `null` when the host may have cut it. */
  bytes: number | null;
  tool: { name: string; call_id?: string; is_error?: boolean } | null;
  /** The language model; `null` when the host does not tell it. */
  model: string | null;
  /** The tokens of the request that produced the entry; `null` when the host does not count them for each entry. */
  usage: Omit<SessionTokens, "total"> | null;
  /** `null` when the host does not know it. */
  createdAt: Date | null;
}

export interface HostedSkill {
  name: string;
  description: string;
  /** Where the skill comes from, in a word of the host. */
  source: string;
  /** Whether the agent can use the skill now. */
  eligible: boolean;
  /** Why it cannot, for example the programs that are missing. */
  missing: string[];
}

export interface HostedSkills {
  skills: readonly HostedSkill[];
  /** A sentence of the service on the whole list; `null` for none. */
  note: string | null;
}

/** The largest instructions that a host returns or accepts, in bytes of UTF-8. */
export const MAX_INSTRUCTION_BYTES = 32_768;

/** The AGENTS.md of an agent. */
export interface HostedInstructions {
  /** Empty when the agent has none. */
  content: string;
  /** The SHA-256 of the stored bytes, in hex. */
  hash: string;
  updatedAt: Date | null;
  /** The number of this version, from 1 on, and 0 for none yet; `null` when the host does not keep replaced versions. */
  revision: number | null;
}

export interface HostedTranscript {
  entries: readonly HostedEntry[];
  /** Whether there are entries before these. */
  hasMore: boolean;
}

/** An item of a list, with the cursor that continues the list after it. */
export interface Listed<T> {
  item: T;
  cursor: string;
}

/** A part of a list. It can be empty although more follows. */
export interface HostedPage<T> {
  items: readonly Listed<T>[];
  /** The cursor that continues the list; `null` at its end. */
  next: string | null;
}

/**
 * The host of a server's agents. All texts that it returns are untrusted data: well-formed, without control characters, and
 * bounded. Every operation ends within a bounded time, or when its signal is aborted, and throws nothing but an
 * `AgentHostError` or the reason of the signal. All operations but `writeInstructions` can be repeated.
 */
export interface AgentHost {
  /** Returns all agents of the server, or fails: never a part of them. */
  listAgents(signal: AbortSignal): Promise<HostedAgents>;
  /**
   * Lists sessions, the most recently changed one first.
   *
   * @param request.agentId - only those of this agent; `null` for those of all agents
   */
  listSessions(request: ListHostedSessions, signal: AbortSignal): Promise<HostedPage<HostedSession>>;
  /**
   * Reads the newest entries of a session, or those before a seq: the newest first. A page has all entries of a seq, so it can
   * have more than `limit`. It has fewer if their contents are larger than 1 MiB together, but at least those of one seq.
   */
  readTranscript(request: ReadTranscript, signal: AbortSignal): Promise<HostedTranscript>;
  /** Lists the skills of an agent, also those that it cannot use now. */
  listSkills(agentId: string, signal: AbortSignal): Promise<HostedSkills>;
  readInstructions(agentId: string, signal: AbortSignal): Promise<HostedInstructions>;
  /**
   * Replaces the instructions of an agent, if their hash is the expected one. After an error other than a conflict it is not
   * known whether they were replaced. Read them before you repeat the call.
   *
   * @throws {InstructionsConflict}
   */
  writeInstructions(request: WriteInstructions, signal: AbortSignal): Promise<HostedInstructions>;
}

export interface ListHostedSessions {
  agentId: string | null;
  limit: number;
  cursor?: string | undefined;
}

export interface ReadTranscript {
  sessionId: string;
  limit: number;
  before?: number | undefined;
  /** Longer contents are cut. A host can cut them earlier, and then says so in the content. */
  maxCharacters: number;
}

export interface WriteInstructions {
  agentId: string;
  content: string;
  /** The hash of the instructions that the caller has read. */
  expectedHash: string;
  /** For a host that keeps replaced versions. */
  author: InstructionAuthor;
  /** The number of the revision whose content this is, for a host that keeps replaced versions. */
  revertedTo: number | null;
}

/** Who replaces instructions. */
export type InstructionAuthor = Pick<Caller, "userId" | "credential">;

/** How to connect to the host of a server. */
export interface HostSettings {
  serverId: string;
  orgId: string;
  /** A `ws:` or `wss:` URL that `checkUrl` accepts. */
  url: string;
  /** Rises with each change of the url or the token. */
  version: number;
  /** Returns the token; `null` when it cannot be decrypted. */
  token(): string | null;
}

export interface ConnectedHost extends AgentHost {
  /** Why the host cannot be used at the moment: `null` while there is a connection, `"connecting"` before the first result. */
  readonly problem: AgentHostError | "connecting" | null;
}

/** Keeps connections to the agent hosts outside of the service, and opens them again with back-off when they are lost. */
export interface AgentHosts {
  /**
   * Returns the host with these settings, and starts to connect to it if there is no connection. A connection with earlier
   * settings of the same server is closed. It never waits.
   */
  open(settings: HostSettings): ConnectedHost;
  /** Closes the connection to the host of a server. Succeeds if there is none. */
  close(serverId: string): void;
  /** Closes the connections to the hosts of all servers except the given ones. */
  closeOthers(serverIds: ReadonlySet<string>): void;
  /** Returns in a clause why the service would not connect to this URL, whatever its host resolves to; `null` if it would. */
  findUrlProblem(url: string): string | null;
}
