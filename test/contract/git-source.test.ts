import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { gitFolderIn, gitServerIn } from "../support/builds/git-setting.ts";
import { gitSourceLimitsContract } from "./git-source-limits.ts";
import { gitSourceContract } from "./git-source.ts";

const settings = {
  "a local folder, bubblewrap": gitFolderIn(new BubblewrapSandbox()),
  "an HTTP server, bubblewrap": gitServerIn(new BubblewrapSandbox()),
};

for (const [kind, open] of Object.entries(settings)) {
  gitSourceContract(kind, open);
  gitSourceLimitsContract(kind, open);
}
