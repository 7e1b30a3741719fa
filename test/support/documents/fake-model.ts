import type { LanguageModel, ModelRequest } from "../../../domain/ports/language-model.ts";

/** A language model that responds to every request with one text. */
export class FakeModel implements LanguageModel {
  readonly requests: ModelRequest[] = [];
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  generate(request: ModelRequest): Promise<string> {
    this.requests.push(request);
    return Promise.resolve(this.#text);
  }
}
