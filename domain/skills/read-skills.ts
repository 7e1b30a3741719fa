import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { decodeNameCursor, encodeNameCursor } from "./skill-cursor.ts";
import { isSkillName, skillNotFound } from "./skill-rules.ts";
import { type SkillDetail, type SkillSummary, toSkillDetail, toSkillSummary } from "./skill-view.ts";
import { type FileAsJson, toFileAsJson } from "./uploaded-files.ts";

export interface ReadSkillsDeps {
  db: Db;
}

export interface SkillPage {
  skills: SkillSummary[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

/**
 * Lists the skills of the organization by name.
 *
 * @throws {ServiceError} `invalid` for a cursor that this service did not return
 */
export async function listSkills(
  { db }: ReadSkillsDeps,
  { orgId }: Caller,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<SkillPage> {
  const after = cursor === undefined ? "" : decodeNameCursor(cursor);
  const rows = await db
    .selectFrom("skills")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("name", ">", after)
    .orderBy("name")
    .limit(limit + 1)
    .execute();
  const skills = rows.slice(0, limit).map(toSkillSummary);
  const last = skills.at(-1);
  return { skills, next_cursor: rows.length > limit && last !== undefined ? encodeNameCursor(last.name) : null };
}

/**
 * Returns a skill with the names and sizes of its files.
 *
 * @throws {ServiceError} `not_found` when the organization has no such skill
 */
export async function getSkill({ db }: ReadSkillsDeps, caller: Caller, name: string): Promise<SkillDetail> {
  const row = await selectSkill(db, caller, name).selectAll().executeTakeFirst();
  if (row === undefined) throw skillNotFound();
  const files = await db
    .selectFrom("skill_files")
    .select("path")
    .select(({ fn }) => fn<number>("octet_length", ["content"]).as("size_bytes"))
    .where("skill_id", "=", row.id)
    .orderBy("path")
    .execute();
  return toSkillDetail(row, files);
}

/**
 * Returns the files of a skill in the form in which they are uploaded, or one of them.
 *
 * @throws {ServiceError} `not_found` when the organization has no such skill, or the skill no such file
 */
export async function readSkillFiles(
  { db }: ReadSkillsDeps,
  caller: Caller,
  { name, path }: { name: string; path?: string | undefined },
): Promise<{ files: FileAsJson[] }> {
  const skill = await selectSkill(db, caller, name).select("id").executeTakeFirst();
  if (skill === undefined) throw skillNotFound();
  // The database accepts no NUL character, which no path has either.
  const rows = path?.includes("\0")
    ? []
    : await db
        .selectFrom("skill_files")
        .select(["path", "content"])
        .where("skill_id", "=", skill.id)
        .$if(path !== undefined, (query) => query.where("path", "=", path ?? ""))
        .orderBy("path")
        .execute();
  if (path !== undefined && rows.length === 0)
    throw new ServiceError("not_found", "File not found. GET /v1/skills/{name} lists the files of a skill.");
  return { files: rows.map((file) => toFileAsJson(file.path, file.content)) };
}

function selectSkill(db: Db, { orgId }: Caller, name: string) {
  // The database would reject some texts that are not names.
  if (!isSkillName(name)) throw skillNotFound();
  return db.selectFrom("skills").where("org_id", "=", orgId).where("name", "=", name);
}
