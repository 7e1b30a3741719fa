import type { YamlParser } from "../ports/yaml-parser.ts";
import { isRecord } from "../shared/json.ts";
import { toPlainText } from "../shared/plain-text.ts";
import { invalidDocument, readFrontmatter } from "./skill-frontmatter.ts";
import { RECOMMENDED_LIMITS, SKILL_LIMITS } from "./skill-limits.ts";
import { isSkillName, NAME_RULE } from "./skill-rules.ts";
import { readRequirements, type SkillRequirements } from "./skill-requirements.ts";

/** What the frontmatter of a SKILL.md declares. */
export interface SkillDocument {
  name: string;
  description: string;
  license: string | null;
  compatibility: string | null;
  allowedTools: string | null;
  metadata: Record<string, unknown>;
  requirements: SkillRequirements;
}

export interface ReadDocument {
  document: SkillDocument;
  /** What some agents may not accept, one sentence for each. */
  warnings: string[];
}

const MAX_TEXT_LENGTH = 2000;

/**
 * Reads the SKILL.md of a skill (agentskills.io, Specification). Unknown fields are allowed, because every kind of agent
 * has its own. What Claude Code accepts beyond the specification gives a warning.
 *
 * @param folder - the name of the skill if the document has no valid one
 * @throws {ServiceError} `invalid`; `unavailable` while too many skills are being read
 */
export async function parseSkillDocument(
  yaml: YamlParser,
  orgId: string,
  content: Uint8Array,
  folder: string,
): Promise<ReadDocument> {
  if (content.length > SKILL_LIMITS.documentBytes)
    throw invalidDocument(
      `has ${content.length} bytes, and at most ${SKILL_LIMITS.documentBytes} are allowed. Move parts of it to other files.`,
    );
  const { fields, warnings } = await readFrontmatter(yaml, orgId, decodeText(content));
  const { metadata = null, name } = fields;
  if (metadata !== null && !isRecord(metadata)) throw invalidDocument("metadata must be a map.");
  const hasName = typeof name === "string" && isSkillName(name);
  const document = {
    name: hasName ? name : folder,
    description: readText(fields, "description", SKILL_LIMITS.descriptionLength) ?? "",
    license: readText(fields, "license", MAX_TEXT_LENGTH),
    compatibility: readText(fields, "compatibility", SKILL_LIMITS.compatibilityLength),
    allowedTools: readText(fields, "allowed-tools", MAX_TEXT_LENGTH),
    metadata: metadata ?? {},
    requirements: readRequirements(metadata ?? {}),
  };
  const ofName = hasName ? [] : [`SKILL.md: name ${NAME_RULE}. The skill is named "${folder}".`];
  return { document, warnings: [...warnings, ...ofName, ...findLongTexts(document)] };
}

function decodeText(content: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    if (!text.includes("\0")) return text;
  } catch {
    // Not UTF-8.
  }
  throw invalidDocument("must be UTF-8 text without NUL characters.");
}

/** Only the description is required. */
function readText(fields: Record<string, unknown>, name: string, maxLength: number): string | null {
  const value = fields[name] ?? null;
  if (value === null && name !== "description") return null;
  const text = Array.isArray(value) ? value.join(", ") : value;
  const plain = typeof text === "string" ? toPlainText(text).trim() : "";
  if (plain === "" || plain.length > maxLength)
    throw invalidDocument(`${name} must be a text of 1 to ${maxLength} characters.`);
  return plain;
}

function findLongTexts({ description, compatibility }: SkillDocument): string[] {
  const texts = [
    ["description", description, RECOMMENDED_LIMITS.descriptionLength],
    ["compatibility", compatibility ?? "", RECOMMENDED_LIMITS.compatibilityLength],
  ] as const;
  return texts
    .filter(([, text, limit]) => text.length > limit)
    .map(
      ([name, text, limit]) =>
        `SKILL.md: ${name} has ${text.length} characters. Some agents accept or read at most ${limit}.`,
    );
}
