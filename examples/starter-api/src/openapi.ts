/** Describes the operations. The platform finds the procedures of the app here, and offers them to agents. */
export const openapi = {
  openapi: "3.1.0",
  info: { title: "Items", version: "1.0.0" },
  paths: {
    "/items": {
      get: {
        operationId: "listItems",
        summary: "Lists the items.",
        responses: { 200: json("The items", { type: "array", items: ref("Item") }) },
      },
      post: {
        operationId: "addItem",
        summary: "Adds an item.",
        requestBody: { required: true, content: { "application/json": { schema: ref("NewItem") } } },
        responses: { 201: json("The item", ref("Item")), 400: { description: "The name is missing or too long" } },
      },
    },
    "/items/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
      get: {
        operationId: "getItem",
        summary: "Returns one item.",
        responses: { 200: json("The item", ref("Item")), 404: { description: "Item not found" } },
      },
      delete: {
        operationId: "deleteItem",
        summary: "Deletes an item.",
        responses: { 204: { description: "The item is deleted" }, 404: { description: "Item not found" } },
      },
    },
  },
  components: {
    schemas: {
      NewItem: {
        type: "object",
        properties: { name: { type: "string", minLength: 1, maxLength: 200 } },
        required: ["name"],
      },
      Item: {
        type: "object",
        properties: { id: { type: "integer" }, name: { type: "string" }, created_at: { type: "string" } },
        required: ["id", "name", "created_at"],
      },
    },
  },
};

function ref(schema: string): object {
  return { $ref: `#/components/schemas/${schema}` };
}

function json(description: string, schema: object): object {
  return { description, content: { "application/json": { schema } } };
}
