import type { DocumentTasks } from "../../domain/documents/index-document.ts";
import type { GatewayTasks } from "../drivers/agent-host/openclaw/gateway-frames.ts";

/** All work that runs in worker threads. */
export type TextTasks = DocumentTasks & GatewayTasks;
