import { enableCompileCache } from "node:module";
import path from "node:path";
import { closeInheritedDescriptors } from "./startup/inherited-descriptors.ts";
import { showStartProgress } from "./startup/start-progress.ts";

closeInheritedDescriptors();
const stopProgress = showStartProgress();
// Compiled code is kept in files, which halves the time that the next start takes to load the service's modules. They are
// imported below because imports at the top of this file would be loaded before this line. `npm start` enables the same cache
// with NODE_COMPILE_CACHE, which includes this file: without it, Node loads its TypeScript support for 55 ms of CPU time.
enableCompileCache(path.join(import.meta.dirname, "../.cache/service"));
const { runService } = await import("./startup/run-service.ts");
await runService(stopProgress);
