import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { SOURCES, sourcesOf } from "../support/documents/knowledge-sources.ts";
import { createInstallation } from "../support/service/service-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time-limits.ts";

/** `npm run test:crash` kills more often. */
const KILLS = Number(process.env["TEST_KILLS"] ?? 2);
const COUNT = 60;

/** The files of a state of the repository: each state changes some, adds one and lacks one of the state before. */
function filesOf(state: number): Record<string, string> {
  const names = Array.from({ length: COUNT }, (_, n) => n + state);
  return Object.fromEntries(
    names.map((n) => [`${String(n).padStart(3, "0")}.md`, `# Topic ${n}\n\nState ${n % 3 === 0 ? state : 0}.`]),
  );
}

test("after a kill of the service while a source is read, its documents are those of the newest commit", async () => {
  await using folder = await temporaryFolder();
  await using installation = await createInstallation();
  const repository = await Repository.create(folder.path, "acme/handbook");
  const start = () => installation.start({ GIT_BASE_URL: pathToFileURL(folder.path).href, LOG_LEVEL: "silent" });
  let service = await start();
  await repository.commitFiles(filesOf(0));
  const added = await service.rest.post(SOURCES, { kind: "sop", repo: "acme/handbook" });
  const id = String(added.body["source_id"]);
  for (let state = 1; state <= KILLS; state++) {
    await waitFor(async () => expect((await service.rest.get(`${SOURCES}/${id}`)).body["status"]).not.toBe("queued"));
    await delay(Math.random() * 500);
    await service.end("SIGKILL");
    const files = filesOf(state);
    const commit = await repository.commitFiles(files);
    service = await start();
    const sources = sourcesOf(service);
    await sources.reading(id);
    const read = await sources.refresh({ source_id: id });
    expect(read).toMatchObject({ status: "ready", commit, document_count: COUNT, skipped: [] });
    const documents = await sources.documents();
    expect(documents.map((document) => document.file_name).toSorted()).toEqual(Object.keys(files).toSorted());
    for (const document of documents) expect(await sources.text(document)).toBe(`${files[document.file_name]}\n`);
    // The next kill is in the reading of a commit that differs in each file.
    await repository.commitFiles(filesOf(state + 100));
    await service.rest.post(`${SOURCES}/${id}/refresh`, {});
  }
});
