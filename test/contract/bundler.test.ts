import { tmpdir } from "node:os";
import { createTestBundler } from "../support/builds/create-bundler.ts";
import { bundlerContract } from "./bundler.ts";

// The cases of the contract install no packages, so no registry is needed.
bundlerContract(createTestBundler({}, tmpdir()));
