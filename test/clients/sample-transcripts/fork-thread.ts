import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { ClientRun } from "../client-run.ts";
import type { ScriptServer } from "./script-server.ts";

interface Message {
  id?: number;
  method?: string;
  result?: { thread: { id: string } };
  error?: unknown;
}

/** Forks a session with the app server of Codex, which speaks JSON-RPC on stdin and stdout, and sends a prompt to the fork. */
export async function forkThread(run: ClientRun<ScriptServer>, threadId: string, prompt: string): Promise<void> {
  const child = spawn(run.program("codex"), ["app-server"], {
    cwd: run.workFolder,
    env: run.env,
    stdio: ["pipe", "pipe", "ignore"],
    timeout: TIMEOUT_MS,
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (message: object): boolean => child.stdin.write(`${JSON.stringify(message)}\n`);
  const until = async (isWanted: (message: Message) => boolean): Promise<Message> => {
    for (;;) {
      const { done, value } = await lines.next();
      if (done === true) throw new Error("the app server of Codex ended early");
      const message = JSON.parse(value) as Message;
      if (message.error !== undefined) throw new Error(`the app server responded: ${value}`);
      if (isWanted(message)) return message;
    }
  };
  send({ id: 1, method: "initialize", params: { clientInfo: { name: "recorder", title: null, version: "1.0.0" } } });
  await until(({ id }) => id === 1);
  send({ method: "initialized" });
  send({ id: 2, method: "thread/fork", params: { threadId, sandbox: "danger-full-access", approvalPolicy: "never" } });
  const forked = await until(({ id }) => id === 2);
  const input = [{ type: "text", text: prompt, text_elements: [] }];
  send({ id: 3, method: "turn/start", params: { threadId: forked.result?.thread.id, input } });
  await until(({ method }) => method === "turn/completed");
  const ended = once(child, "close");
  child.kill();
  await ended;
}

const TIMEOUT_MS = 60_000;
