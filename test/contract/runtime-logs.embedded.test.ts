import { rm } from "node:fs/promises";
import path from "node:path";
import type { LoggedApp } from "../../domain/ports/runtime-logs.ts";
import { EmbeddedRuntimeLogs } from "../../server/platforms/embedded/runtime-logs/embedded-runtime-logs.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runtimeLogsContract } from "./runtime-logs.ts";

runtimeLogsContract("embedded", async () => {
  const folder = await temporaryFolder();
  const folderOf = ({ slug, id }: LoggedApp) => path.join(folder.path, slug, id, "logs");
  let logs = new EmbeddedRuntimeLogs(folderOf);
  return {
    get logs() {
      return logs;
    },
    async print(app, messages) {
      const { sink, close } = await logs.open(app, []);
      for (const message of messages) sink.print([Date.now(), "log", null, message]);
      close();
    },
    remove: (app) => rm(path.join(folder.path, app.slug), { recursive: true }),
    // What was not written within 100 ms is lost with a process, so the earlier one has nothing to write any more.
    restart: async () => void (logs = new EmbeddedRuntimeLogs(folderOf)),
    async [Symbol.asyncDispose]() {
      await logs.close();
      await folder[Symbol.asyncDispose]();
    },
  };
});
