import { z } from "zod";

/** The parts of the responses that are used. Other fields are ignored, so that later versions of the gateway work too. */

/** Times are in milliseconds. PostgreSQL and JavaScript share the range up to the year 9999. */
const time = z.number().min(0).max(253_402_300_799_999);
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().catch(null);
const count = z.int().min(0);
/** A longer list is invalid as a whole, because each invalid element would take time. */
const list = <T extends z.ZodType>(item: T) => z.array(z.unknown()).max(5000).pipe(z.array(item));

const hello = z.object({
  type: z.literal("hello-ok"),
  protocol: z.int(),
  /** What this connection may do, whatever it has requested. */
  auth: z.object({ scopes: z.array(z.string()) }),
});

const agentList = z.object({
  defaultId: optional(z.string()),
  agents: list(
    z.object({
      id: z.string().min(1).max(200),
      kind: optional(z.string()),
      name: optional(z.string()),
      model: optional(z.object({ primary: optional(z.string()) })),
    }),
  ),
});

const sessionList = z.object({
  hasMore: optional(z.boolean()),
  sessions: list(
    z.object({
      key: z.string().min(1).max(500),
      agentId: optional(z.string()),
      label: optional(z.string()),
      displayName: optional(z.string()),
      derivedTitle: optional(z.string()),
      createdAt: optional(time),
      updatedAt: optional(time),
      inputTokens: optional(count),
      outputTokens: optional(count),
      cacheRead: optional(count),
      cacheWrite: optional(count),
    }),
  ),
});

export type GatewaySession = z.infer<typeof sessionList>["sessions"][number];

const block = z.object({
  type: z.string(),
  text: optional(z.string()),
  id: optional(z.string()),
  name: optional(z.string()),
  arguments: z.unknown().optional(),
});

const message = z.object({
  role: z.string(),
  content: z.union([z.string(), z.array(block.catch({ type: "unknown" }))]).catch(""),
  timestamp: optional(time),
  toolCallId: optional(z.string()),
  toolName: optional(z.string()),
  isError: optional(z.boolean()),
  __openclaw: optional(z.object({ seq: optional(count) })),
});

export type GatewayMessage = z.infer<typeof message>;

const history = z.object({
  /** Absent for a session that does not exist. */
  sessionId: optional(z.string().min(1).max(200)),
  messages: list(message),
  offset: optional(count),
  nextOffset: optional(count),
  hasMore: optional(z.boolean()),
  totalMessages: optional(count),
});

export type GatewayHistory = z.infer<typeof history>;

const names = z.array(z.string()).catch([]);

const skillList = z.object({
  skills: list(
    z.object({
      name: z.string().min(1),
      description: z.string().catch(""),
      source: z.string().catch(""),
      eligible: z.boolean(),
      disabled: z.boolean().catch(false),
      blockedByAllowlist: z.boolean().catch(false),
      blockedByAgentFilter: z.boolean().catch(false),
      platformIncompatible: z.boolean().catch(false),
      missing: z.object({ bins: names, anyBins: names, env: names, config: names, os: names }).partial().catch({}),
    }),
  ),
});

export type GatewaySkill = z.infer<typeof skillList>["skills"][number];

const agentFile = z.object({
  file: z.object({
    missing: z.boolean(),
    content: optional(z.string()),
    /** Of the stored bytes. Older gateways do not send it, and do not accept `expectedHash`. */
    hash: optional(z.string().regex(/^[0-9a-f]{64}$/)),
    updatedAtMs: optional(time),
  }),
});

export type GatewayFile = z.infer<typeof agentFile>["file"];

/** The response to each method that is called. */
export const responses = {
  connect: hello,
  "agents.list": agentList,
  "agents.files.get": agentFile,
  "agents.files.set": agentFile,
  "chat.history": history,
  "sessions.list": sessionList,
  "skills.status": skillList,
} satisfies Record<string, z.ZodType>;

export type GatewayMethod = keyof typeof responses;

export type GatewayResponse<Method extends GatewayMethod> = z.infer<(typeof responses)[Method]>;
