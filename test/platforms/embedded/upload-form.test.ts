import path from "node:path";
import { expect } from "vitest";
import { readUploadForm } from "../../../server/platforms/shared/upload-form.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { writeUploadForm, type FormOptions } from "../../support/edge/upload-form.ts";
import { hazard, verifies } from "../../support/verifies.ts";

async function parse(options: FormOptions) {
  await using folder = await temporaryFolder();
  return await readUploadForm(
    await writeUploadForm(path.join(folder.path, "script.form"), "export default {}", options),
  );
}

const manyModules = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}.js`, ""]));

verifies(hazard(18), "an upload form that is made to be slow to parse is rejected before it is parsed", async () => {
  expect((await parse({ modules: manyModules(500) })).modules).toHaveLength(501);
  await expect(parse({ modules: manyModules(100_000) })).rejects.toThrow("more than 2000 modules");
  await expect(parse({ modules: { ["x".repeat(1_000_000)]: "" } })).rejects.toThrow("not a valid upload form");
  const bindings = Array.from({ length: 501 }, (_, n) => ({ type: "plain_text", name: `B${n}`, text: "" }));
  await expect(parse({ bindings })).rejects.toThrow("metadata");
  await expect(parse({ bindings: [{ type: "x".repeat(1025), name: "B" }] })).rejects.toThrow("metadata");
});
