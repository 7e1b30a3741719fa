// Runs inside the sandbox. Writes the Pages configuration of a repository whose wrangler configuration is not for Pages.
//
// usage: node extend-pages-config.ts <folder of static files>
import { loadWrangler } from "./wrangler-api.ts";
import { writePagesConfig } from "./write-pages-config.ts";

const { rawConfig } = loadWrangler().experimental_readRawConfig({}, {});
writePagesConfig({ ...rawConfig }, process.argv[2] ?? "");
