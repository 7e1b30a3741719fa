import { enableCompileCache } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type * as RunService from "./startup/run-service.ts";
import { closeInheritedDescriptors } from "./startup/inherited-descriptors.ts";
import { findServiceBundle } from "./startup/service-bundle.ts";
import { showStartProgress } from "./startup/start-progress.ts";

const HELP = `Starts the service: npm start

It needs no setting. Settings are environment variables, or lines of a file .env in this folder. The most important ones:

  PORT=3000 and EDGE_PORT=3001   where the service and the apps listen, on HOST=127.0.0.1
  DATA_DIR=.data                 the folder of the database, the builds and the apps
  PUBLIC_URL                     the URL at which clients reach the service
  DATABASE_URL, REDIS_URL        a Postgres and a Redis of your own
  SIGN_UP=invite                 who may sign up: open, invite or closed

.env.example lists all settings, and docs/operations.md explains them. npm run admin lists what an operator can do.
`;

if (process.argv.includes("--help")) {
  process.stdout.write(HELP);
  process.exit(0);
}
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
