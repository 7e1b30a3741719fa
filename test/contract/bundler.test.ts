import { tmpdir } from "node:os";
import { createTestBundler } from "../support/builds/create-bundler.ts";
import { bundlerContract } from "./bundler.ts";
import { generatedConfigContract } from "./bundler-generated-config.ts";
import { pagesContract } from "./bundler-pages.ts";

// The cases of the contract install no packages, so no registry is needed.
const bundler = createTestBundler({}, tmpdir());
bundlerContract(bundler);
generatedConfigContract(bundler);
pagesContract(bundler);
