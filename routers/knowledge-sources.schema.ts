import { z } from "zod";
import type { AddSource } from "../domain/knowledge-sources/manage-sources.ts";
import { SOURCE_STATUSES } from "../domain/knowledge-sources/knowledge-source.entity.ts";
import type { SourceDetail, SourceSummary } from "../domain/knowledge-sources/source-view.ts";
import { gitHost, requestedHost } from "./apps.schema.ts";
import { timestamp } from "./core/common.schema.ts";
import { kind, language } from "./knowledge.schema.ts";

const id = z.uuid().meta({ description: "The source's id", examples: ["0d9c2f1e-7a3b-4c55-8e1d-2f6b9a4c7e10"] });

export const sourceRequest = z.strictObject({ id });

export const addSourceRequest = z
  .strictObject({
    kind: kind.meta({ description: "The kind of all documents of the source" }),
    language: language
      .optional()
      .meta({ description: "By default `auto`: each passage has the language in which it is written" }),
    url: z
      .string()
      .optional()
      .meta({ description: "The https URL of a page or a file", examples: ["https://example.com/pricing"] }),
    repo: z
      .string()
      .optional()
      .meta({ description: "A repository as `owner/name`, instead of `url`", examples: ["acme/handbook"] }),
    host: requestedHost.optional(),
    branch: z
      .string()
      .optional()
      .meta({ description: "By default `main`, or the default branch of a repository without `main`" }),
    path: z
      .string()
      .optional()
      .meta({ description: "A folder of the repository; by default all of it", examples: ["docs/handbook"] }),
  })
  .meta({ id: "AddKnowledgeSourceRequest" }) satisfies z.ZodType<AddSource>;

const summary = {
  source_id: z.string(),
  type: z.enum(["url", "repository"]),
  url: z.string().nullable(),
  repo: z.string().nullable(),
  host: gitHost,
  branch: z.string().nullable(),
  path: z.string().nullable().meta({ description: "`null` for all of the repository, and for a URL" }),
  kind,
  language,
  status: z.enum(SOURCE_STATUSES).exclude(["deleting"]),
  error: z
    .string()
    .nullable()
    .meta({ description: "Why the last reading failed. The documents of earlier readings stay" }),
  document_count: z.int(),
  skipped_count: z.int().meta({ description: "How many documents of the source are not stored" }),
  left_out: z.int().meta({ description: "How many files are hidden, or of types that are not read" }),
  commit: z.string().nullable().meta({ description: "The commit whose documents are stored" }),
  last_checked_at: timestamp.nullable(),
  next_check_at: timestamp,
  created_by: z.string().nullable(),
  created_at: timestamp,
};

export const sourceList = z
  .object({ sources: z.array(z.object(summary).meta({ id: "KnowledgeSource" })) })
  .meta({ id: "ListKnowledgeSourcesResponse" }) satisfies z.ZodType<{ sources: SourceSummary[] }>;

export const sourceDetail = z
  .object({
    ...summary,
    skipped: z
      .array(z.object({ file: z.string(), error: z.string() }))
      .meta({ description: "The first 50 documents that are not stored, with the reason" }),
  })
  .meta({ id: "KnowledgeSourceDetail" }) satisfies z.ZodType<SourceDetail>;
