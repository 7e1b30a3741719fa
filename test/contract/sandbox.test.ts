import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { UnconfinedSandbox } from "../../server/sandbox/unconfined-sandbox.ts";
import { sandboxContract } from "./sandbox.ts";

sandboxContract("bubblewrap", new BubblewrapSandbox());
sandboxContract("unconfined", new UnconfinedSandbox());
