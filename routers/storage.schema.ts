import { z } from "zod";
import { DATABASE_LIMITS, type AppDatabase, type QueryResult } from "../domain/ports/app-databases.ts";
import { ENTRY_LIMITS, type EntryStore, type EntryValue, type StoredEntry } from "../domain/ports/app-entries.ts";
import type { GetStorage, StorageView } from "../domain/storage/get-storage.ts";
import type { EntryView, GetEntry, ListedEntries, ListEntries } from "../domain/storage/read-entries.ts";
import type { QueryDatabase } from "../domain/storage/query-database.ts";
import { timestampWithExample as timestamp } from "./core/common.schema.ts";

const id = z.uuid().meta({ description: "The app's id", examples: ["0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e"] });
const database = z.string().max(1000).optional().meta({
  description: "One of `names` of the app's databases; without it, the one that the app uses by default",
});
const bytes = z.int().nonnegative();

export const getStorageRequest = z.strictObject({ id, database }) satisfies z.ZodType<GetStorage>;

const table = z
  .object({
    schema: z.string().meta({ description: "`main` in SQLite" }),
    name: z.string(),
    kind: z.enum(["table", "view"]),
    columns: z
      .array(
        z.object({
          name: z.string(),
          type: z.string().meta({ description: "As it was declared; empty for a column without a type" }),
          is_primary_key: z.boolean(),
        }),
      )
      .meta({ description: `At most ${DATABASE_LIMITS.columns}` }),
    row_count: z
      .int()
      .nonnegative()
      .nullable()
      .meta({
        description: `At most ${DATABASE_LIMITS.countedRows}. Null for a view, and if the rows could not be counted in time`,
      }),
    has_more_rows: z.boolean().meta({ description: "Whether there are more rows than that" }),
  })
  .meta({ id: "DatabaseTable" });

const appDatabase = z
  .object({
    kind: z.enum(["sqlite", "postgres"]),
    name: z.string().meta({
      description:
        "`main` for the D1 database of a Worker, `postgres`, or the path of a SQLite file of a Node server, relative to `/data`",
    }),
    names: z.array(z.string()).meta({ description: "All databases of the app, the one that it uses by default first" }),
    bytes: bytes.meta({ description: "The size of the files of the database" }),
    tables: z.array(table).meta({ description: `At most ${DATABASE_LIMITS.tables}` }),
    has_more_tables: z.boolean(),
  })
  .meta({ id: "AppDatabase" }) satisfies z.ZodType<AppDatabase>;

const kind = z
  .enum(["key_value", "objects"])
  .meta({ description: "`key_value` for a KV namespace, `objects` for an R2 bucket" });

const entryStore = z
  .object({ kind, name: z.string().meta({ description: "The name of the binding, with which the app has it" }) })
  .meta({ id: "EntryStore" }) satisfies z.ZodType<EntryStore>;

export const storageResponse = z
  .object({
    limit_bytes: bytes.meta({ description: "How many bytes the plan allows the app to store" }),
    used: z
      .object({
        total_bytes: bytes,
        sql_bytes: bytes.meta({ description: "Of the SQL databases, and of the folder `/data` of a Node server" }),
        key_value_bytes: bytes,
        object_bytes: bytes,
        durable_bytes: bytes.meta({ description: "Of durable objects and workflows" }),
        measured_at: timestamp,
      })
      .nullable()
      .meta({ description: "What the app stored when it was measured last; null before the first time" }),
    database: appDatabase.nullable().meta({
      description: "Null if the app has no SQL database, has not used it yet, or it cannot be read",
    }),
    database_problem: z.string().nullable().meta({ description: "Why the database cannot be read" }),
    stores: z.array(entryStore).meta({
      description: "The KV namespaces and R2 buckets that the app declares; those of a Node server are empty",
    }),
  })
  .meta({ id: "GetStorageResponse" }) satisfies z.ZodType<StorageView>;

const MAX_SQL_LENGTH = 20_000;
const MAX_ROWS = 500;

export const queryDatabaseRequest = z
  .strictObject({
    id,
    sql: z
      .string()
      .min(1)
      .max(MAX_SQL_LENGTH)
      .meta({ description: "One statement that only reads", examples: ["select id, name from customers limit 20"] }),
    limit: z
      .int()
      .min(1)
      .max(MAX_ROWS)
      .optional()
      .meta({ description: "How many rows are returned at most; by default 100" }),
    database,
  })
  .meta({ id: "QueryDatabaseRequest" }) satisfies z.ZodType<QueryDatabase>;

const value = z
  .union([
    z.null(),
    z.boolean(),
    z.number(),
    z.string(),
    z.object({ text: z.string(), bytes }),
    z.object({ base64: z.string(), bytes }),
  ])
  .meta({
    id: "DatabaseValue",
    description: `A number that JSON cannot represent exactly is a text. Binary data is \`base64\`, and of a text of more than ${DATABASE_LIMITS.valueBytes / 1024} KiB there is the beginning as \`text\`; \`bytes\` is the size of the whole value`,
  });

export const queryDatabaseResponse = z
  .object({
    columns: z.array(z.object({ name: z.string() })),
    rows: z.array(z.array(value)).meta({ description: "The values of each row, in the order of the columns" }),
    is_truncated: z.boolean().meta({ description: "Whether there are more rows than `limit`, or than fit into 1 MiB" }),
    duration_ms: z.int().nonnegative().meta({ description: "How long the statement ran" }),
  })
  .meta({ id: "QueryDatabaseResponse" }) satisfies z.ZodType<QueryResult>;

const store = {
  id,
  kind,
  store: z.string().min(1).max(1000).meta({ description: "The name of the namespace or bucket" }),
};
/** Of KV 512, of R2 1,024. */
const MAX_KEY_BYTES = 1024;
const key = z.string().max(MAX_KEY_BYTES);

export const listEntriesRequest = z.strictObject({
  ...store,
  prefix: key.optional().meta({ description: "What the keys begin with" }),
  cursor: z.string().max(2000).optional().meta({ description: "The `next_cursor` of the page before" }),
  limit: z.int().min(1).max(ENTRY_LIMITS.page).optional().meta({ description: "By default 50" }),
}) satisfies z.ZodType<ListEntries>;

const storedEntry = z
  .object({
    key: z.string(),
    bytes: bytes.meta({ description: "The size of the value" }),
    expires_at: timestamp.nullable().meta({ description: "When the value of a key expires; null if never" }),
    uploaded_at: timestamp.nullable().meta({ description: "When an object was written; null for a key" }),
    content_type: z.string().nullable().meta({ description: "Of an object, as the app gave it" }),
  })
  .meta({ id: "StoredEntry" }) satisfies z.ZodType<StoredEntry>;

export const listEntriesResponse = z
  .object({ entries: z.array(storedEntry), next_cursor: z.string().nullable() })
  .meta({ id: "ListEntriesResponse" }) satisfies z.ZodType<ListedEntries>;

export const getEntryRequest = z.strictObject({ ...store, key: key.min(1) }) satisfies z.ZodType<GetEntry>;

export const getEntryResponse = z
  .object({
    key: z.string(),
    value: z.union([z.string(), z.object({ text: z.string(), bytes }), z.object({ base64: z.string(), bytes })]).meta({
      description: `Of a text of more than ${ENTRY_LIMITS.valueBytes / 1024} KiB there is the beginning as \`text\`, and binary data, or its beginning, is \`base64\`; \`bytes\` is the size of the whole value`,
    }) satisfies z.ZodType<EntryValue>,
  })
  .meta({ id: "GetEntryResponse" }) satisfies z.ZodType<EntryView>;
