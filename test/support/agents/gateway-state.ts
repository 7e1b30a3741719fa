import { createHash } from "node:crypto";

/** What a scripted gateway stores. Tests change it directly. */
export interface GatewayState {
  defaultId: string;
  agents: GatewayAgent[];
  sessions: GatewaySession[];
  /** The AGENTS.md by the id of the agent; `undefined` when there is none. */
  files: Record<string, string | undefined>;
  skills: object[];
}

export interface GatewayAgent {
  id: string;
  kind?: string;
  name?: string;
  model?: { primary: string };
}

export interface GatewaySession {
  key: string;
  sessionId: string;
  agentId: string;
  derivedTitle?: string;
  updatedAt: number;
  messages: object[];
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** An error response, as a real gateway sends it. */
export class GatewayRefusal extends Error {
  readonly error: object;

  constructor(code: string, message: string, details?: object) {
    super(message);
    this.error = { code, message, ...(details !== undefined && { details }) };
  }
}

type Params = Record<string, unknown>;
type Method = (state: GatewayState, params: Params, options: { comparesHash: boolean }) => object;

const STARTED_AT = Date.UTC(2026, 10, 22, 9);

/** Two agents. The main one has three sessions, of which one has six messages with a tool call. */
export function createGatewayState(): GatewayState {
  const message = (role: string, content: unknown, seq: number, more: object = {}) => ({
    role,
    content,
    timestamp: STARTED_AT + seq * 1000,
    ...more,
    __openclaw: { id: `message-${seq}`, seq },
  });
  const text = (words: string) => [{ type: "text", text: words }];
  const short = (words: string) => [message("user", words, 1), message("assistant", text(`About ${words}`), 2)];
  return {
    defaultId: "main",
    agents: [
      { id: "main", kind: "agent", model: { primary: "fake/fake" } },
      { id: "sales", kind: "agent", name: "Sales", model: { primary: "fake/fake" } },
    ],
    sessions: [
      {
        key: "agent:main:main",
        sessionId: "8fe0419e-35ef-428b-9340-0013d109ae79",
        agentId: "main",
        derivedTitle: "Hello there",
        updatedAt: STARTED_AT + 3_600_000,
        messages: [
          message("user", "hello there", 1),
          message("assistant", text("Hello"), 2),
          message("user", "read AGENTS.md", 3),
          message(
            "assistant",
            [
              { type: "thinking", thinking: "hidden" },
              ...text("Looking."),
              { type: "toolCall", id: "call_1", name: "read", arguments: { path: "AGENTS.md" } },
            ],
            4,
          ),
          message("toolResult", text("# Rules"), 5, { toolCallId: "call_1", toolName: "read", isError: false }),
          message("assistant", text("It says: Rules"), 6),
        ],
      },
      session("agent:sales:main", "sales", 1_800_000, short("prices")),
      session("agent:main:older", "main", 60_000, short("older")),
      session("agent:main:oldest", "main", 0, short("oldest")),
    ],
    files: { main: "# Rules\nBe brief.\n", sales: undefined },
    skills: [skill("weather", { eligible: true }), skill("1password", { eligible: false, missing: { bins: ["op"] } })],
  };
}

function session(key: string, agentId: string, age: number, messages: object[]): GatewaySession {
  return { key, sessionId: sha256(key).slice(0, 32), agentId, updatedAt: STARTED_AT + age, messages };
}

function skill(name: string, { missing = {}, ...more }: { missing?: object; eligible: boolean }): object {
  const none = { bins: [], anyBins: [], env: [], config: [], os: [] };
  return {
    name,
    description: `Use ${name}`,
    source: "openclaw-bundled",
    bundled: true,
    skillKey: name,
    disabled: false,
    blockedByAllowlist: false,
    blockedByAgentFilter: false,
    platformIncompatible: false,
    ...more,
    missing: { ...none, ...missing },
    configChecks: [],
    install: [],
  };
}

const agentOf = (state: GatewayState, id: unknown, message: string): string => {
  if (state.agents.some((agent) => agent.id === id)) return String(id);
  throw new GatewayRefusal("INVALID_REQUEST", message);
};

const fileOf = (state: GatewayState, agentId: string, comparesHash: boolean): object => {
  const content = state.files[agentId];
  const shared = { name: "AGENTS.md", path: `/workspace/${agentId}/AGENTS.md` };
  if (content === undefined) return { ...shared, missing: true, expectedAbsent: false };
  const hash = comparesHash ? { hash: sha256(content) } : {};
  return { ...shared, missing: false, size: content.length, updatedAtMs: STARTED_AT, ...hash, content };
};

/** The methods that the service uses, with the parameters that a real gateway accepts. */
export const METHODS: Record<string, { params: string[]; scope: string; run: Method }> = {
  "agents.list": {
    params: [],
    scope: "operator.read",
    run: ({ defaultId, agents }) => ({
      defaultId,
      ownership: "legacy",
      selectionRequired: false,
      mainKey: "main",
      scope: "per-sender",
      agents: agents.map((agent) => ({ workspace: "/workspace", agentRuntime: { id: "auto" }, ...agent })),
    }),
  },
  "sessions.list": {
    params: ["limit", "offset", "agentId", "includeDerivedTitles"],
    scope: "operator.read",
    run: ({ sessions }, { limit, offset, agentId }) => {
      const all = sessions
        .filter((row) => agentId === undefined || row.agentId === agentId)
        .toSorted((a, b) => b.updatedAt - a.updatedAt);
      const [start, size] = [Number(offset ?? 0), Number(limit)];
      const page = all.slice(start, start + size);
      const hasMore = start + size < all.length;
      return {
        ts: Date.now(),
        path: "(multiple)",
        count: page.length,
        totalCount: all.length,
        limitApplied: size,
        nextOffset: hasMore ? start + size : null,
        hasMore,
        sessions: page.map((row) => ({
          ...row,
          messages: undefined,
          kind: "direct",
          createdAt: STARTED_AT,
          inputTokens: 103,
          outputTokens: 7,
          cacheRead: 20,
          totalTokens: 123,
          status: "done",
        })),
      };
    },
  },
  "chat.history": {
    params: ["sessionKey", "limit", "offset", "maxChars"],
    scope: "operator.read",
    run: ({ sessions }, { sessionKey, limit, offset }) => {
      const found = sessions.find(({ key }) => key === sessionKey);
      if (found === undefined) return { sessionKey, messages: [], hasMore: false, totalMessages: 0 };
      const page = historyPage(found.messages, Number(limit), Number(offset ?? 0));
      return {
        sessionKey,
        sessionId: found.sessionId,
        pendingInputs: { items: [], total: 0 },
        ...(offset !== undefined && { offset }),
        ...page,
        totalMessages: found.messages.length,
      };
    },
  },
  "skills.status": {
    params: ["agentId"],
    scope: "operator.read",
    run: (state, { agentId }) => ({
      agentId: agentOf(state, agentId, `unknown agent id "${String(agentId)}"`),
      workspaceDir: "/workspace",
      managedSkillsDir: "/skills",
      skills: state.skills,
    }),
  },
  "agents.files.get": {
    params: ["agentId", "name"],
    scope: "operator.read",
    run: (state, params, { comparesHash }) => {
      const agentId = agentOf(state, params["agentId"], `agent "${String(params["agentId"])}" not found`);
      return { agentId, workspace: "/workspace", file: fileOf(state, agentId, comparesHash) };
    },
  },
  "agents.files.set": {
    params: ["agentId", "name", "content", "expectedHash"],
    scope: "operator.admin",
    run: (state, { agentId: id, content, expectedHash }, { comparesHash }) => {
      const agentId = agentOf(state, id, `agent "${String(id)}" not found`);
      const current = state.files[agentId];
      const currentHash = current === undefined ? undefined : sha256(current);
      if (expectedHash !== undefined && expectedHash !== currentHash)
        throw new GatewayRefusal("INVALID_REQUEST", `agent file "AGENTS.md" changed since it was read`, {
          type: "agent_file_conflict",
          name: "AGENTS.md",
          ...(currentHash !== undefined && { currentHash }),
        });
      state.files[agentId] = String(content);
      return { ok: true, agentId, workspace: "/workspace", file: fileOf(state, agentId, comparesHash) };
    },
  },
};

interface Message {
  role?: string;
  content?: unknown;
}

/**
 * Returns a page of a transcript as the method `chat.history` of version 2026.9.6 does. It shows the text and the tool calls of
 * a message as two messages. At the end of the transcript it counts these, and cuts the oldest message of the page. Before the
 * end, a page has whole messages.
 */
function historyPage(stored: readonly Message[], limit: number, offset: number) {
  if (offset === 0) {
    const shown = stored.flatMap(toShown);
    const hasMore = shown.length > limit;
    return { messages: shown.slice(-limit), hasMore, ...(hasMore && { nextOffset: limit }) };
  }
  const end = stored.length - offset;
  let start = end;
  let count = 0;
  while (start > 0) {
    const size = toShown(stored[start - 1]!).length;
    if (start < end && count + size > limit) break;
    count += size;
    start -= 1;
  }
  const hasMore = start > 0;
  const messages = stored.slice(Math.max(0, start), Math.max(0, end)).flatMap(toShown);
  return { messages, hasMore, ...(hasMore && { nextOffset: stored.length - start }) };
}

function toShown(message: Message): Message[] {
  if (!Array.isArray(message.content)) return [message];
  const isCall = (block: unknown): boolean => (block as { type?: unknown } | null)?.type === "toolCall";
  const calls = message.content.filter(isCall);
  const others = message.content.filter((block) => !isCall(block));
  if (calls.length === 0 || others.length === 0) return [message];
  return [
    { ...message, content: others },
    { ...message, content: calls },
  ];
}
