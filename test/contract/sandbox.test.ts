import { BubblewrapSandbox } from "../../server/drivers/sandbox/bubblewrap.ts";
import { UnconfinedSandbox } from "../../server/drivers/sandbox/unconfined.ts";
import { sandboxContract } from "./sandbox.ts";

sandboxContract("bubblewrap", new BubblewrapSandbox());
sandboxContract("unconfined", new UnconfinedSandbox());
