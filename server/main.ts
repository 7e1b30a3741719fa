import { enableCompileCache } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type * as RunService from "./startup/run-service.ts";
import { closeInheritedDescriptors } from "./startup/inherited-descriptors.ts";
import { findServiceBundle } from "./startup/service-bundle.ts";
import { showStartProgress } from "./startup/start-progress.ts";

closeInheritedDescriptors();
const stopProgress = showStartProgress();
// Compiled code is kept in files, which halves the time that the next start takes to load the service's modules. They are
// imported below because imports at the top of this file would be loaded before this line. `npm start` enables the same cache
// with NODE_COMPILE_CACHE, which includes this file: without it, Node loads its TypeScript support for 55 ms of CPU time.
enableCompileCache(path.join(import.meta.dirname, "../.cache/service"));
const bundle = findServiceBundle();
const { runService } =
  bundle === null
    ? await import("./startup/run-service.ts")
    : ((await import(pathToFileURL(bundle).href)) as typeof RunService);
await runService(stopProgress);
