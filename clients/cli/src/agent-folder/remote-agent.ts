import { isUtf8 } from "node:buffer";
import type { Client } from "../../../sdk/src/client.ts";
import { CliError } from "../cli-error.ts";
import { type FileSet, isSkillName } from "./file-set.ts";
import { INSTRUCTIONS, partOfSkill, skillOfPart } from "./local-folder.ts";

/** As domain/skills/stored-skills.ts says it. */
const DISABLED = "disabled for this agent";

/** What the service has: the hash of each part. A skill that is disabled for the agent is not part of it. */
export interface RemoteParts {
  /** The parts of the agent. */
  versions: Map<string, string>;
  /** Also of empty instructions. */
  instructionsHash: string;
  /** All skills of the organization, also those that the agent does not have. */
  skills: Map<string, string>;
  /** Whether the service keeps the skills of the agent. Those of an OpenClaw gateway are only there. */
  hasSkills: boolean;
}

/** The instructions and the skills of an agent in the service. */
export class RemoteAgent {
  readonly #client: Client;
  readonly #id: string;
  readonly #signal: AbortSignal;

  constructor(client: Client, id: string, signal: AbortSignal) {
    this.#client = client;
    this.#id = id;
    this.#signal = signal;
  }

  async read(): Promise<RemoteParts> {
    const options = { signal: this.#signal };
    const { server_kind: kind } = await this.#client.agents.get({ id: this.#id }, options);
    const instructions = await this.#client.instructions.get({ id: this.#id }, options);
    const versions = new Map<string, string>();
    if (instructions.content !== "") versions.set(INSTRUCTIONS, instructions.content_hash);
    const hasSkills = kind !== "openclaw";
    const skills = hasSkills ? await this.#listSkills() : new Map<string, string>();
    if (hasSkills)
      for (const name of await this.#listEnabled()) {
        const version = skills.get(name);
        if (version !== undefined) versions.set(partOfSkill(name), version);
      }
    return { versions, instructionsHash: instructions.content_hash, skills, hasSkills };
  }

  async files(part: string): Promise<FileSet> {
    const options = { signal: this.#signal };
    const name = skillOfPart(part);
    if (name === null) {
      const { content } = await this.#client.instructions.get({ id: this.#id }, options);
      return new Map([[INSTRUCTIONS, Buffer.from(content)]]);
    }
    const { files } = await this.#client.skills.files({ name }, options);
    return new Map(
      files.map(({ path, content, encoding }) => [
        path,
        Buffer.from(content, encoding === "base64" ? "base64" : "utf8"),
      ]),
    );
  }

  /**
   * Stores a part, and enables a skill for the agent.
   *
   * @param expected - the hash that the service must have; `null` for a skill that must not exist
   * @returns the new hash
   */
  async store(part: string, files: FileSet, expected: string | null): Promise<string> {
    const options = { signal: this.#signal };
    const name = skillOfPart(part);
    if (name === null) return this.#storeInstructions(files.get(INSTRUCTIONS) ?? Buffer.alloc(0), expected);
    const uploaded = [...files].map(([path, content]) =>
      isUtf8(content) && !content.includes(0)
        ? { path, content: content.toString("utf8"), encoding: "utf-8" as const }
        : { path, content: content.toString("base64"), encoding: "base64" as const },
    );
    const request = { name, files: uploaded, agent_ids: [this.#id], expected_hash: expected };
    return (await this.#client.skills.upload(request, options)).content_hash;
  }

  async #storeInstructions(content: Buffer, expected: string | null): Promise<string> {
    if (!isUtf8(content)) throw new CliError(`${INSTRUCTIONS} is not valid UTF-8.`);
    const request = {
      id: this.#id,
      content: content.toString("utf8"),
      ...(expected !== null && { expected_hash: expected }),
    };
    return (await this.#client.instructions.replace(request, { signal: this.#signal })).after.content_hash;
  }

  async #listSkills(): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await this.#client.skills.list(
        { limit: 100, ...(cursor !== undefined && { cursor }) },
        { signal: this.#signal },
      );
      for (const { name, content_hash: version } of page.skills) found.set(name, version);
      cursor = page.next_cursor;
    }
    return found;
  }

  async #listEnabled(): Promise<string[]> {
    const names: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await this.#client.agentSkills.list(
        { id: this.#id, ...(cursor !== undefined && { cursor }) },
        { signal: this.#signal },
      );
      const enabled = page.skills.filter(({ name, missing }) => isSkillName(name) && !missing.includes(DISABLED));
      names.push(...enabled.map(({ name }) => name));
      cursor = page.next_cursor;
    }
    return names;
  }
}
