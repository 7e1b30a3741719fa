import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { Caller } from "../../../domain/shared/caller.ts";
import { readSkillFiles } from "../../../domain/skills/read-skills.ts";
import { uploadSkill, type UploadSkill } from "../../../domain/skills/upload-skill.ts";
import { callerOf } from "../../support/agents/given-server.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { skillDocument } from "../../support/service/skills.ts";

const service = sharedHarness();
const COMMIT = "c".repeat(40);
let caller: Caller;

beforeAll(async () => {
  caller = callerOf((await service().tenant()).org_id);
});

/** The dependencies of the service, with a repository that has one skill in the folder `skills/notes`. */
function deps() {
  const checkOut = async ({ directory }: { directory: string }): Promise<{ commit: string }> => {
    const folder = path.join(directory, "skills/notes");
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "SKILL.md"), skillDocument("notes"));
    return { commit: COMMIT };
  };
  return { ...service().service.parts.service, git: { checkOut } };
}

const upload = (request: Partial<UploadSkill>) => uploadSkill(deps(), caller, { name: "notes", ...request });

test("a skill from a repository is stored with its source and commit, and one from files without", async () => {
  const fromRepository = await upload({ repo: "acme/skills", branch: "next", path: "skills/notes" });
  expect(fromRepository).toMatchObject({ source: "acme/skills@next:skills/notes", commit: COMMIT, file_count: 1 });
  const { files } = await readSkillFiles(deps(), caller, { name: "notes" });
  expect(files).toMatchObject([{ path: "SKILL.md", content: skillDocument("notes") }]);
  expect(await upload({ files })).toMatchObject({
    source: "upload",
    commit: null,
    content_hash: fromRepository.content_hash,
  });
});

test.each([{ branch: "main" }, { path: "skills/notes" }, { branch: "main", path: "skills/notes" }])(
  "files with %j are rejected, because these are of a repository",
  async (further) => {
    const files = [{ path: "SKILL.md", content: skillDocument("notes") }];
    await expect(upload({ files, ...further })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("Send repo too"),
    });
  },
);
