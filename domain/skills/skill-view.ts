import type { Selectable } from "kysely";
import type { DatabaseTables } from "../database-types.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import type { SkillRepository } from "./skill.entity.ts";
import type { SkillRequirements } from "./skill-requirements.ts";

export interface SkillSummary {
  name: string;
  description: string;
  /** `upload`, or the repository, branch and folder that the files come from. */
  source: string;
  /** The commit of the repository; `null` for an upload. */
  commit: string | null;
  requirements: SkillRequirements;
  content_hash: string;
  file_count: number;
  size_bytes: number;
  created_at: string;
  updated_at: string;
}

export interface SkillDetail extends SkillSummary {
  license: string | null;
  compatibility: string | null;
  allowed_tools: string | null;
  metadata: Record<string, unknown>;
  files: { path: string; size_bytes: number }[];
}

type SkillRow = Selectable<DatabaseTables["skills"]>;

export function toSkillSummary(row: SkillRow): SkillSummary {
  return {
    name: row.name,
    description: row.description,
    source: toSource(row.repository),
    commit: row.repository?.commit ?? null,
    requirements: row.requirements,
    content_hash: row.content_hash,
    file_count: row.file_count,
    size_bytes: row.size_bytes,
    created_at: toIsoTimestamp(row.created_at),
    updated_at: toIsoTimestamp(row.updated_at),
  };
}

export function toSkillDetail(row: SkillRow, files: SkillDetail["files"]): SkillDetail {
  return {
    ...toSkillSummary(row),
    license: row.license,
    compatibility: row.compatibility,
    allowed_tools: row.allowed_tools,
    metadata: row.metadata,
    files,
  };
}

/** Returns a text such as `gitlab.com/acme/skills@main:skills/pdf`, without what was not given, and the service's own host. */
export function toSource(repository: SkillRepository | null): string {
  if (repository === null) return "upload";
  const { repo, host = null, branch, path } = repository;
  return `${host === null ? "" : `${host}/`}${repo}${branch === null ? "" : `@${branch}`}${path === "." ? "" : `:${path}`}`;
}
