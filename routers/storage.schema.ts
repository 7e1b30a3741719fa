import { z } from "zod";
import { DATABASE_LIMITS, type AppDatabase, type QueryResult } from "../domain/ports/app-databases.ts";
import type { GetStorage, StorageView } from "../domain/storage/get-storage.ts";
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
