import path from "node:path";
import { expect } from "vitest";
import { readUploadForm } from "../../../server/platforms/embedded/workerd/upload-form.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { writeUploadForm, type FormOptions } from "../../support/edge/upload-form.ts";
import { hazard, verifies } from "../../support/verifies.ts";

async function read(options: FormOptions) {
  await using folder = await temporaryFolder();
  return await readUploadForm(
    await writeUploadForm(path.join(folder.path, "script.form"), "export default {}", options),
  );
}

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}.js`, ""]));

verifies(hazard(18), "a bundle made to be slow to read is refused before it is read", async () => {
  expect((await read({ modules: many(500) })).modules).toHaveLength(501);
  const startedAt = performance.now();
  await expect(read({ modules: many(100_000) })).rejects.toThrow("more than 2000 modules");
  await expect(read({ modules: { ["x".repeat(1_000_000)]: "" } })).rejects.toThrow("not an upload form");
  expect(performance.now() - startedAt).toBeLessThan(1500);
  const bindings = Array.from({ length: 501 }, (_, n) => ({ type: "plain_text", name: `B${n}`, text: "" }));
  await expect(read({ bindings })).rejects.toThrow("metadata");
  await expect(read({ bindings: [{ type: "x".repeat(1025), name: "B" }] })).rejects.toThrow("metadata");
});
