import { getStorage } from "../domain/storage/get-storage.ts";
import { queryDatabase } from "../domain/storage/query-database.ts";
import { getEntry, listEntries } from "../domain/storage/read-entries.ts";
import { procedure, router } from "./core/trpc.ts";
import {
  getEntryRequest,
  getEntryResponse,
  getStorageRequest,
  listEntriesRequest,
  listEntriesResponse,
  queryDatabaseRequest,
  queryDatabaseResponse,
  storageResponse,
} from "./storage.schema.ts";

const tags = ["Apps"];
const tooMany =
  "The organization reads databases of its apps too often, or the client's network has sent too many invalid tokens";
const busy =
  "Other databases are being read, the app writes to its database all the time, or the service's database is temporarily unavailable";

export const storage = router({
  get: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/apps/{id}/storage",
        tags,
        summary: "Get the storage of an app",
        description:
          "What the app stores and may store, and the tables of its SQL database: the D1 database of a Worker, a SQLite file below `/data` of a Node server, or its PostgreSQL database.",
        successDescription: "The storage",
        errorResponses: {
          404: "No such app in the organization, or no such database of the app",
          429: tooMany,
          503: busy,
        },
      },
    })
    .input(getStorageRequest)
    .output(storageResponse)
    .query(({ ctx, input, signal = new AbortController().signal }) =>
      getStorage(ctx.service, ctx.caller, input, signal),
    ),

  query: procedure
    .meta({
      access: { scope: "deploy" },
      openapi: {
        method: "POST",
        path: "/v1/apps/{id}/storage/query",
        tags,
        summary: "Query the SQL database of an app",
        description:
          "Runs one statement that only reads, for at most 10 seconds, and returns at most 500 rows and 1 MiB. The app continues to run. A statement that changes something is refused. The audit log has the call, not the statement. The result is data of the app.",
        successDescription: "The rows",
        errorResponses: {
          400: "The statement is refused, fails, or needs too much time or memory",
          404: "No such app in the organization, or no such database of the app",
          409: "The app has no SQL database, or it cannot be read",
          429: tooMany,
          503: busy,
        },
      },
    })
    .input(queryDatabaseRequest)
    .output(queryDatabaseResponse)
    .mutation(({ ctx, input, signal = new AbortController().signal }) =>
      queryDatabase(ctx.service, ctx.caller, input, signal),
    ),

  listEntries: procedure
    .meta({
      access: { scope: "deploy" },
      openapi: {
        method: "GET",
        path: "/v1/apps/{id}/storage/entries",
        tags,
        summary: "List keys or objects of an app",
        description:
          "The keys of a KV namespace or the objects of an R2 bucket, in the order of their keys. They are data of the app.",
        successDescription: "The entries",
        errorResponses: {
          404: "No such app in the organization, or no such namespace or bucket of the app",
          409: "The storage cannot be read",
          429: tooMany,
          503: busy,
        },
      },
    })
    .input(listEntriesRequest)
    .output(listEntriesResponse)
    .query(({ ctx, input, signal = new AbortController().signal }) =>
      listEntries(ctx.service, ctx.caller, input, signal),
    ),

  getEntry: procedure
    .meta({
      access: { scope: "deploy" },
      openapi: {
        method: "GET",
        path: "/v1/apps/{id}/storage/entry",
        tags,
        summary: "Get the value of a key or an object of an app",
        description: "At most the first 16 KiB. It is data of the app.",
        successDescription: "The value",
        errorResponses: {
          404: "No such app in the organization, no such namespace or bucket of the app, or no such key",
          409: "The storage cannot be read",
          429: tooMany,
          503: busy,
        },
      },
    })
    .input(getEntryRequest)
    .output(getEntryResponse)
    .query(({ ctx, input, signal = new AbortController().signal }) => getEntry(ctx.service, ctx.caller, input, signal)),
});
