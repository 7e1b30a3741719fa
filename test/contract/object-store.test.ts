import { join } from "node:path";
import { FilesystemObjectStore } from "../../server/drivers/object-store/filesystem.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { objectStoreContract } from "./object-store.ts";

objectStoreContract("file system", async () => {
  const folder = await temporaryFolder();
  const store = new FilesystemObjectStore(join(folder.path, "objects"));
  return { store, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
});
