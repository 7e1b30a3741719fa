import { jsonBody, type ModelAnswer, nextTurn } from "./model-api.ts";

interface GenerateRequest {
  tools?: { functionDeclarations?: { name: string }[] }[];
  contents: { parts?: { functionResponse?: { response: unknown } }[] }[];
}

/** The Gemini API. */
export function answerGemini(request: unknown, pathname: string): ModelAnswer {
  const { tools = [], contents } = request as GenerateRequest;
  const names = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name));
  const result = contents.flatMap(({ parts = [] }) => parts).findLast((part) => part.functionResponse !== undefined);
  const toolResult = result === undefined ? null : JSON.stringify(result.functionResponse?.response);
  const turn = nextTurn(names, toolResult);
  const part = "text" in turn ? { text: turn.text } : { functionCall: { name: turn.call, args: {} } };
  const response = {
    candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
  if (!pathname.endsWith(":streamGenerateContent")) return { tools: names, toolResult, ...jsonBody(response) };
  const body = `data: ${JSON.stringify(response)}\n\n`;
  return { tools: names, toolResult, contentType: "text/event-stream", body };
}
