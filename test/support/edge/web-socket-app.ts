/**
 * The script of an app that accepts WebSockets. It returns each message, followed by the `x-service-auth` of the request, and
 * responds to any other request with 426.
 *
 * @param headers - of the response that opens a WebSocket
 */
export function webSocketApp(headers: [name: string, value: string][] = []): string {
  return `export default { fetch(request) {
    if (request.headers.get("upgrade") !== "websocket") return new Response("no socket", { status: 426 });
    const [client, server] = Object.values(new WebSocketPair());
    server.accept();
    server.addEventListener("message", ({ data }) => server.send(data + " " + request.headers.get("x-service-auth")));
    return new Response(null, { status: 101, webSocket: client, headers: ${JSON.stringify(headers)} });
  } }`;
}
