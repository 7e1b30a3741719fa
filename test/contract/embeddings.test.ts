import { AiSdkEmbeddings } from "../../server/drivers/embeddings/ai-sdk-embeddings.ts";
import { openScriptedEmbeddings } from "../support/search/scripted-embeddings.ts";
import { embeddingsContract } from "./embeddings.ts";

embeddingsContract("AI SDK", async () => {
  const endpoint = await openScriptedEmbeddings();
  return {
    embeddings: new AiSdkEmbeddings(endpoint.settings),
    fail: () => endpoint.fail(500),
    restore: () => endpoint.fail(null),
    [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose](),
  };
});
