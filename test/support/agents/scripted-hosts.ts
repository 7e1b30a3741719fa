import {
  type AgentHosts,
  type HostedAgents,
  type HostedInstructions,
  type HostedSkill,
  type HostedSkills,
  type HostSettings,
  InstructionsConflict,
  type ConnectedHost,
  type WriteInstructions,
} from "../../../domain/ports/agent-host.ts";
import { sha256Hex } from "../../../domain/shared/sha256.ts";

const unused = (): Promise<never> => Promise.reject(new Error("no test calls this"));

/** A host in the memory of the test, with a main agent. */
export class ScriptedHost implements ConnectedHost {
  problem: ConnectedHost["problem"] = null;
  /** Returns the agents; can throw. */
  list: (signal: AbortSignal) => HostedAgents | Promise<HostedAgents> = () => hostedAgents("main");
  /** How often the agents were listed. */
  lists = 0;
  /** The skills of every agent. */
  skills: HostedSkill[] = [];
  /** The AGENTS.md of each agent. */
  readonly files = new Map<string, string>();
  /** Called before a file is replaced; can throw. */
  beforeWrite: (request: WriteInstructions) => void = () => undefined;
  /** How often an agent's file was to be replaced. */
  writes = 0;
  readonly listSessions = unused;
  readonly readTranscript = unused;

  async listAgents(signal: AbortSignal): Promise<HostedAgents> {
    this.lists += 1;
    return this.list(signal);
  }

  async listSkills(): Promise<HostedSkills> {
    return { skills: this.skills, note: null };
  }

  async readInstructions(agentId: string): Promise<HostedInstructions> {
    const content = this.files.get(agentId) ?? "";
    return { content, hash: sha256Hex(content), updatedAt: null, revision: null };
  }

  async writeInstructions(request: WriteInstructions): Promise<HostedInstructions> {
    this.writes += 1;
    this.beforeWrite(request);
    const { hash } = await this.readInstructions(request.agentId);
    if (hash !== request.expectedHash) throw new InstructionsConflict(hash);
    this.files.set(request.agentId, request.content);
    return this.readInstructions(request.agentId);
  }
}

/** Hosts that need no connection. They record what is requested of them. */
export class ScriptedHosts implements AgentHosts {
  readonly opened: HostSettings[] = [];
  /** The servers whose connections stay open, for each call. */
  readonly kept: string[][] = [];
  readonly #hosts = new Map<string, ScriptedHost>();

  /** Returns the host of a server, which stays the same. */
  of(serverId: string): ScriptedHost {
    const host = this.#hosts.get(serverId) ?? new ScriptedHost();
    this.#hosts.set(serverId, host);
    return host;
  }

  open(settings: HostSettings): ScriptedHost {
    this.opened.push(settings);
    return this.of(settings.serverId);
  }

  close(): void {}

  closeOthers(serverIds: ReadonlySet<string>): void {
    this.kept.push([...serverIds]);
  }

  findUrlProblem(url: string): string | null {
    return url.startsWith("wss://") ? null : "must be a WebSocket URL";
  }
}

/** The first of the agents is the main one. */
export function hostedAgents(...ids: string[]): HostedAgents {
  return { mainId: ids[0] ?? "", agents: ids.map((id) => ({ id, name: id, model: null })) };
}
