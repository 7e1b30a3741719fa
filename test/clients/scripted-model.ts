import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { answerAnthropic } from "./model-apis/anthropic.ts";
import { checkTools, jsonBody, type ModelAnswer, type ModelApi, nextTurn } from "./model-apis/model-api.ts";
import { answerOpenAI } from "./model-apis/openai.ts";

interface FunctionDeclaration {
  name: string;
  description?: string;
  parameters?: Record<string, unknown>;
  parametersJsonSchema?: Record<string, unknown>;
}

interface GenerateRequest {
  tools?: { functionDeclarations?: FunctionDeclaration[] }[];
  contents: { parts?: { functionResponse?: { response: unknown } }[] }[];
}

/** The Gemini API. */
function answerGemini(request: unknown, pathname: string): ModelAnswer {
  const { tools = [], contents } = request as GenerateRequest;
  const declarations = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations);
  const names = declarations.map(({ name }) => name);
  const listed = declarations.map(({ name, description = "-", parameters, parametersJsonSchema }) => ({
    name,
    description,
    inputSchema: parametersJsonSchema ?? parameters ?? {},
  }));
  const violations = checkTools(listed, () => "gemini");
  const result = contents.flatMap(({ parts = [] }) => parts).findLast((part) => part.functionResponse !== undefined);
  const toolResult = result === undefined ? null : JSON.stringify(result.functionResponse?.response);
  const turn = nextTurn(names, toolResult);
  const part = "text" in turn ? { text: turn.text } : { functionCall: { name: turn.call, args: {} } };
  const response = {
    candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
  if (!pathname.endsWith(":streamGenerateContent"))
    return { tools: names, violations, toolResult, ...jsonBody(response) };
  const body = `data: ${JSON.stringify(response)}\n\n`;
  return { tools: names, violations, toolResult, contentType: "text/event-stream", body };
}

/**
 * A model server on a loopback address. It asks for one call of `service_list_apps` and then repeats the result as text. It refuses
 * tools that the real APIs refuse.
 */
export interface ScriptedModel extends AsyncDisposable {
  url: string;
  /** The names of the tools of the last request that had the tools of the gateway, as the client names them. */
  tools(): string[];
  /** The result of the tool call, as the client sent it. */
  toolResult(): string;
  /** The paths of all requests, and why some were refused, for error messages. */
  requests(): string[];
}

/** The path of each API, after its version. */
const APIS: [path: RegExp, api: ModelApi][] = [
  [/\/messages$/, answerAnthropic],
  [/\/responses$/, answerOpenAI],
  [/:(streamGenerateContent|generateContent)$/, answerGemini],
];

export async function openScriptedModel(): Promise<ScriptedModel> {
  const requests: string[] = [];
  let tools: string[] = [];
  let toolResult = "";
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? "/", "http://model");
    requests.push(`${request.method} ${pathname}`);
    const api = APIS.find(([path]) => path.test(pathname))?.[1];
    if (request.method !== "POST" || api === undefined) {
      response.writeHead(404, { "content-type": "application/json" }).end(`{"error":{"message":"Unknown endpoint"}}`);
      return;
    }
    const answer = api(await json(request), pathname);
    if (answer.violations.length > 0) {
      requests.push(`refused: ${answer.violations.slice(0, 5).join("; ")}`);
      const error = { type: "invalid_request_error", message: `Invalid tools: ${answer.violations.join("; ")}` };
      response
        .writeHead(400, { "content-type": "application/json" })
        .end(JSON.stringify({ type: "error", error: { ...error, code: 400, status: "INVALID_ARGUMENT" } }));
      return;
    }
    if (answer.tools.some((name) => name.includes("service_list_apps"))) ({ tools } = answer);
    if (answer.toolResult !== null) ({ toolResult } = answer);
    response.writeHead(200, { "content-type": answer.contentType }).end(answer.body);
  };
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tools: () => tools,
    toolResult: () => toolResult,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
