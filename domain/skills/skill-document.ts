import type { YamlParser } from "../ports/yaml-parser.ts";
import { ServiceError } from "../shared/errors.ts";
import { isRecord } from "../shared/json.ts";
import { toPlainText } from "../shared/plain-text.ts";
import { isSkillName, NAME_RULE, SKILL_LIMITS } from "./skill-rules.ts";
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

/** How deep lists and maps may be nested in each other. */
const MAX_DEPTH = 10;
const MAX_TEXT_LENGTH = 2000;

/**
 * Reads the SKILL.md of a skill (agentskills.io, Specification). Unknown fields are allowed, because every kind of agent
 * has its own.
 *
 * @throws {ServiceError} `invalid`; `unavailable` while too many skills are being read
 */
export async function parseSkillDocument(yaml: YamlParser, orgId: string, content: Uint8Array): Promise<SkillDocument> {
  if (content.length > SKILL_LIMITS.documentBytes)
    throw invalid(
      `has ${content.length} bytes, and at most ${SKILL_LIMITS.documentBytes} are allowed. Move parts of it to other files.`,
    );
  const parsed = await yaml.parse(orgId, extractFrontmatter(decodeText(content)), 2);
  if ("problem" in parsed)
    throw invalid(
      `its frontmatter is not valid YAML: ${parsed.problem}. Put a value with \`: \` or \`#\` in it into quotes.`,
    );
  const fields = parsed.value;
  if (!isRecord(fields)) throw invalid("its frontmatter must be a map with name and description.");
  if (!isPlainData(fields, MAX_DEPTH))
    throw invalid("its frontmatter must be Unicode text without NUL characters, and not nested deeply.");
  const { metadata = null } = fields;
  if (metadata !== null && !isRecord(metadata)) throw invalid("metadata must be a map.");
  return {
    name: readName(fields["name"]),
    description: readText(fields, "description", SKILL_LIMITS.descriptionLength) ?? "",
    license: readText(fields, "license", MAX_TEXT_LENGTH),
    compatibility: readText(fields, "compatibility", SKILL_LIMITS.compatibilityLength),
    allowedTools: readText(fields, "allowed-tools", MAX_TEXT_LENGTH),
    metadata: metadata ?? {},
    requirements: readRequirements(metadata ?? {}),
  };
}

function decodeText(content: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    if (!text.includes("\0")) return text;
  } catch {
    // Not UTF-8.
  }
  throw invalid("must be UTF-8 text without NUL characters.");
}

/** Returns the YAML between the first line and the next line of three hyphens. */
function extractFrontmatter(text: string): string {
  const match = /^---[ \t]*\r?\n(?<yaml>[\s\S]*?)^---[ \t]*$/my.exec(text);
  const yaml = match?.groups?.["yaml"];
  if (yaml === undefined)
    throw invalid("must start with frontmatter: a line ---, the fields name and description, and another line ---.");
  if (Buffer.byteLength(yaml) > SKILL_LIMITS.frontmatterBytes)
    throw invalid(`its frontmatter has more than ${SKILL_LIMITS.frontmatterBytes} bytes.`);
  return yaml;
}

/** Whether a value that was JSON can be stored: the database accepts no NUL characters and no unpaired surrogates. */
function isPlainData(value: unknown, depth: number): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.entries(value).every((entry) => entry.every((part) => isPlainData(part, depth - 1)));
}

function readName(name: unknown): string {
  if (typeof name === "string" && isSkillName(name)) return name;
  throw invalid(`name ${NAME_RULE}.`);
}

/** Only the description is required. */
function readText(fields: Record<string, unknown>, name: string, maxLength: number): string | null {
  const value = fields[name] ?? null;
  if (value === null && name !== "description") return null;
  const text = Array.isArray(value) ? value.join(", ") : value;
  const plain = typeof text === "string" ? toPlainText(text).trim() : "";
  if (plain === "" || plain.length > maxLength)
    throw invalid(`${name} must be a text of 1 to ${maxLength} characters.`);
  return plain;
}

function invalid(problem: string): ServiceError {
  return new ServiceError("invalid", `SKILL.md: ${problem}`);
}
