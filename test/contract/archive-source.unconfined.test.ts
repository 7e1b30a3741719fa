import { UnconfinedSandbox } from "../../server/sandbox/unconfined-sandbox.ts";
import { archivesIn } from "../support/builds/archive-setting.ts";
import { archiveSourceContract } from "./archive-source.ts";

archiveSourceContract("unconfined", archivesIn(new UnconfinedSandbox()));
