import type { YamlParser } from "../ports/yaml-parser.ts";
import { ServiceError } from "../shared/errors.ts";
import { isRecord } from "../shared/json.ts";
import { SKILL_LIMITS } from "./skill-limits.ts";

/** The fields of a SKILL.md, and what is wrong with them without keeping an agent from reading the skill. */
export interface Frontmatter {
  fields: Record<string, unknown>;
  warnings: string[];
}

const NO_FRONTMATTER =
  "must start with frontmatter: a line ---, the fields name and description, and another line ---.";

/** How deep lists and maps may be nested in each other. */
const MAX_DEPTH = 10;

/**
 * Reads the frontmatter of a SKILL.md. A file without frontmatter is described by its first paragraph, and a plain value that
 * YAML does not allow is read as text, as in Claude Code.
 *
 * @throws {ServiceError} `invalid`; `unavailable` while too many skills are being read
 */
export async function readFrontmatter(yaml: YamlParser, orgId: string, text: string): Promise<Frontmatter> {
  const source = extractFrontmatter(text);
  if (source === null) return describeByParagraph(text);
  const { value: fields, warnings } = await parseYaml(yaml, orgId, source);
  if (!isRecord(fields)) throw invalidDocument("its frontmatter must be a map with name and description.");
  if (!isPlainData(fields, MAX_DEPTH))
    throw invalidDocument("its frontmatter must be Unicode text without NUL characters, and not nested deeply.");
  return { fields, warnings };
}

export function invalidDocument(problem: string): ServiceError {
  return new ServiceError("invalid", `SKILL.md: ${problem}`);
}

/** Returns the YAML between the first line and the next line of three hyphens; `null` for a text without frontmatter. */
function extractFrontmatter(text: string): string | null {
  const match = /^---[ \t]*\r?\n(?<yaml>[\s\S]*?)^---[ \t]*$/my.exec(text);
  const yaml = match?.groups?.["yaml"];
  if (yaml === undefined && !text.trimStart().startsWith("---")) return null;
  if (yaml === undefined) throw invalidDocument(NO_FRONTMATTER);
  if (Buffer.byteLength(yaml) > SKILL_LIMITS.frontmatterBytes)
    throw invalidDocument(`its frontmatter has more than ${SKILL_LIMITS.frontmatterBytes} bytes.`);
  return yaml;
}

/** A field at the start of a line whose value is plain text. */
const PLAIN_FIELD = /^([\w-]+):[ \t]+(?!["'|>&*!])(\S.*?)[ \t]*$/gm;

async function parseYaml(yaml: YamlParser, orgId: string, source: string) {
  const parsed = await yaml.parse(orgId, source, 2);
  if (!("problem" in parsed)) return { value: parsed.value, warnings: [] };
  const quoted = source.replaceAll(
    PLAIN_FIELD,
    (_, name: string, value: string) => `${name}: ${JSON.stringify(value)}`,
  );
  const again = quoted === source ? parsed : await yaml.parse(orgId, quoted, 2);
  const problem = `its frontmatter is not valid YAML: ${parsed.problem}. Put a value with \`: \` or \`#\` in it into quotes.`;
  if ("problem" in again) throw invalidDocument(problem);
  return { value: again.value, warnings: [`SKILL.md: ${problem} Its values were read as text.`] };
}

function describeByParagraph(text: string): Frontmatter {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const start = lines.findIndex((line) => line !== "" && !line.startsWith("#"));
  const rest = lines.slice(Math.max(start, 0));
  const end = rest.indexOf("");
  const paragraph = start === -1 ? "" : rest.slice(0, end === -1 ? undefined : end).join(" ");
  if (paragraph === "") throw invalidDocument(NO_FRONTMATTER);
  const warning =
    "SKILL.md: it has no frontmatter, so its first paragraph is the description. Add the fields name and description.";
  return { fields: { description: paragraph.slice(0, MAX_PARAGRAPH) }, warnings: [warning] };
}

const MAX_PARAGRAPH = 1000;

/** Whether a value that was JSON can be stored: the database accepts no NUL characters and no unpaired surrogates. */
function isPlainData(value: unknown, depth: number): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.entries(value).every((entry) => entry.every((part) => isPlainData(part, depth - 1)));
}
