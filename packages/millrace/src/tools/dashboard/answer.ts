/** The forms that answers have. */
import type { ServerResponse } from 'node:http';

export function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer,
): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': length }).end(body);
}

export function sendJson(response: ServerResponse, status: number, body: object): void {
  send(response, status, 'application/json', JSON.stringify(body));
}

/** A refused client has to give its connection back: there are not many. */
export function refuse(
  response: ServerResponse,
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.setHeader('Connection', 'close');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendJson(response, status, { error });
}
