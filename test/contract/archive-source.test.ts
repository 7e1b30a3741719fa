import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { archivesIn } from "../support/builds/archive-setting.ts";
import { archiveSourceContract } from "./archive-source.ts";

archiveSourceContract("bubblewrap", archivesIn(new BubblewrapSandbox()));
