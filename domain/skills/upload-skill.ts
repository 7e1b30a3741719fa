import { createHash } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { type Db, queryBuilderOf } from "../database-types.ts";
import type { ArchiveReader } from "../ports/archive-reader.ts";
import type { YamlParser } from "../ports/yaml-parser.ts";
import { decodeBase64 } from "../shared/base64.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { FileCollector, type SkillFiles } from "./collect-files.ts";
import { enableForAgents } from "./enable-skill.ts";
import { type ReadRepositoryDeps, readRepository } from "./read-repository.ts";
import { getSkill } from "./read-skills.ts";
import { Skill, type SkillRepository } from "./skill.entity.ts";
import { type SkillDocument, parseSkillDocument } from "./skill-document.ts";
import { SkillFile } from "./skill-file.entity.ts";
import { RECOMMENDED_LIMITS, SKILL_DOCUMENT, SKILL_LIMITS } from "./skill-limits.ts";
import { isSkillName, NAME_RULE } from "./skill-rules.ts";
import type { SkillDetail } from "./skill-view.ts";
import { decodeFiles, type UploadedFile } from "./uploaded-files.ts";

export interface UploadSkillDeps extends ReadRepositoryDeps {
  em: EntityManager;
  db: Db;
  yaml: YamlParser;
  archives: ArchiveReader;
}

export interface UploadSkill {
  name: string;
  files?: UploadedFile[] | undefined;
  /** A zip file in base64, instead of `files`. */
  archive?: string | undefined;
  /** A repository that contains the files, instead of `files`. */
  repo?: string | undefined;
  /** The git host of the repository; without it, the one that has the repository. */
  host?: string | undefined;
  /** Of the repository. */
  branch?: string | undefined;
  /** The folder in the repository. */
  path?: string | undefined;
  /** Agents for which the skill is enabled too. It stays enabled for others. */
  agent_ids?: string[] | undefined;
  /** The `content_hash` that the caller has read; `null` for a new skill. If it is not the current one, nothing changes. */
  expected_hash?: string | null | undefined;
}

export interface UploadedSkill extends SkillDetail {
  /** What some agents may not accept, one sentence for each. */
  warnings: string[];
}

/**
 * Stores a skill of the organization, or replaces the one of the same name as a whole. Files and record commit together.
 * It stays enabled for the agents for which it was.
 *
 * @throws {ServiceError} `invalid` for files that are not a skill; `not_found` when the organization has no such agent;
 *   `conflict` when `expected_hash` is not the current hash, or the organization has too many skills or is reading another
 *   repository; `unavailable` while the service is reading other repositories or skills
 */
export async function uploadSkill(deps: UploadSkillDeps, caller: Caller, request: UploadSkill): Promise<UploadedSkill> {
  const { name, agent_ids: agentIds = [] } = request;
  if (!isSkillName(name)) throw new ServiceError("invalid", `name: ${NAME_RULE}. Example: "pdf-forms".`);
  const { files, repository } = await readSource(deps, caller.orgId, request);
  const content = files.get(SKILL_DOCUMENT) ?? new Uint8Array();
  const { document, warnings } = await parseSkillDocument(deps.yaml, caller.orgId, content, name);
  if (document.name !== name)
    throw new ServiceError(
      "invalid",
      `SKILL.md: its name is "${document.name}", but the name of the skill is "${name}".`,
    );
  const skill = { ...document, repository, ...describeContent(files) };
  // Of simultaneous uploads the later one waits, and counts and replaces what the earlier one has stored.
  await inLockedTransaction(deps.em, [`skills ${caller.orgId}`], async (em) => {
    const tx = queryBuilderOf(em);
    await checkExpected(tx, caller.orgId, request);
    await checkRoom(tx, caller.orgId, skill);
    const id = await storeSkill(em, caller.orgId, skill, files);
    await enableForAgents(tx, caller, id, agentIds);
  });
  return { ...(await getSkill(deps, caller, name)), warnings: [...warnings, ...findLargeFiles(skill)] };
}

function findLargeFiles({ sizeBytes }: NewSkill): string[] {
  if (sizeBytes <= RECOMMENDED_LIMITS.totalBytes) return [];
  const limit = RECOMMENDED_LIMITS.totalBytes / 1024 / 1024;
  return [`files: have ${(sizeBytes / 1024 / 1024).toFixed(1)} MiB together. Some agents accept at most ${limit} MiB.`];
}

interface Source {
  files: SkillFiles;
  repository: SkillRepository | null;
}

async function readSource(deps: UploadSkillDeps, orgId: string, request: UploadSkill): Promise<Source> {
  const { name, files, archive, repo, host, branch, path } = request;
  if ([files, archive, repo].filter((source) => source !== undefined).length !== 1)
    throw new ServiceError("invalid", "Send exactly one of files, archive and repo.");
  if (repo !== undefined) return readRepository(deps, orgId, { name, repo, host, branch, path });
  if (host !== undefined || branch !== undefined || path !== undefined)
    throw new ServiceError(
      "invalid",
      "host, branch and path are for a skill from a repository. Send repo too, or omit them.",
    );
  if (archive !== undefined) return { files: await readArchive(deps.archives, name, archive), repository: null };
  return { files: decodeFiles(name, files ?? []), repository: null };
}

async function readArchive(archives: ArchiveReader, name: string, archive: string): Promise<SkillFiles> {
  const bytes = decodeBase64(archive);
  if (bytes === null) throw new ServiceError("invalid", "archive: must be a zip file in base64.");
  const collector = new FileCollector();
  await archives.readZip(bytes, collector);
  return collector.finish(name);
}

type NewSkill = SkillDocument & ReturnType<typeof describeContent> & { repository: SkillRepository | null };

function describeContent(files: SkillFiles) {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for (const [path, content] of files) {
    sizeBytes += content.length;
    // The size separates the contents.
    hash.update(`${JSON.stringify(path)} ${content.length}\n`).update(content);
  }
  return { contentHash: hash.digest("hex"), fileCount: files.size, sizeBytes };
}

async function checkExpected(tx: Db, orgId: string, { name, expected_hash: expected }: UploadSkill): Promise<void> {
  if (expected === undefined) return;
  const stored = await tx
    .selectFrom("skills")
    .select("content_hash")
    .where("org_id", "=", orgId)
    .where("name", "=", name)
    .executeTakeFirst();
  const current = stored?.content_hash ?? null;
  if (current === (expected?.toLowerCase() ?? null)) return;
  const problem =
    current === null ? "there is no such skill any more" : `the skill exists, and its content_hash is ${current}`;
  throw new ServiceError(
    "conflict",
    `expected_hash: ${problem}. Read the files of the skill, apply the change to them, then try again.`,
  );
}

async function checkRoom(tx: Db, orgId: string, { name, sizeBytes }: NewSkill): Promise<void> {
  const others = await tx
    .selectFrom("skills")
    .select(({ fn }) => [fn.countAll<string>().as("count"), fn.sum<string | null>("size_bytes").as("bytes")])
    .where("org_id", "=", orgId)
    .where("name", "!=", name)
    .executeTakeFirstOrThrow();
  const { skillsOfOrganization, organizationBytes } = SKILL_LIMITS;
  if (Number(others.count) < skillsOfOrganization && Number(others.bytes) + sizeBytes <= organizationBytes) return;
  throw new ServiceError(
    "conflict",
    `An organization can have at most ${skillsOfOrganization} skills, with ${organizationBytes / 1024 / 1024} MiB together. Delete unused skills, then try again.`,
  );
}

/** Returns the id of the skill, which stays the same when it is replaced. */
async function storeSkill(em: SqlEntityManager, orgId: string, fields: NewSkill, files: SkillFiles): Promise<string> {
  const existing = await em.findOne(Skill, { orgId, name: fields.name });
  const updatedAt = new Date();
  const skill = existing ?? em.create(Skill, { ...fields, orgId, createdAt: updatedAt, updatedAt });
  em.assign(skill, { ...fields, updatedAt });
  await em.flush();
  await em.nativeDelete(SkillFile, { skillId: skill.id });
  // As parameters of statements. MikroORM would write the contents into the statement as text.
  const tx = queryBuilderOf(em);
  for (const [path, content] of files)
    await tx
      .insertInto("skill_files")
      .values({ skill_id: skill.id, path, content: Buffer.from(content) })
      .execute();
  return skill.id;
}
