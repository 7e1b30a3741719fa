import { enableCompileCache } from "node:module";
import path from "node:path";

// Compiled code is kept in files, which halves the time that a command takes to load its modules. They are imported below
// because imports at the top of this file would be loaded before this line.
enableCompileCache(path.join(import.meta.dirname, "../../.cache/service"));
const { runAdmin } = await import("./run-admin.ts");
await runAdmin();
