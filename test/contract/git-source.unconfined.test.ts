import { UnconfinedSandbox } from "../../server/sandbox/unconfined-sandbox.ts";
import { gitServerIn } from "../support/builds/git-setting.ts";
import { gitSourceLimitsContract } from "./git-source-limits.ts";
import { gitSourceContract } from "./git-source.ts";

const kind = "an HTTP server, unconfined";
const open = gitServerIn(new UnconfinedSandbox());
gitSourceContract(kind, open);
gitSourceLimitsContract(kind, open);
