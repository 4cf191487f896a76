/** `node loads.mjs SPECIFIER`: prints the files that an import loads. As hooks of a loader, it reports each of them. */
import { createRequire, register } from 'node:module';
import { isMainThread, MessageChannel, receiveMessageOnPort } from 'node:worker_threads';

let reports;

export function initialize({ port }) {
  reports = port;
}

export async function load(url, context, next) {
  reports.postMessage(url);
  return next(url, context);
}

if (isMainThread) {
  const { port1: here, port2: port } = new MessageChannel();
  register(import.meta.url, { data: { port }, transferList: [port] });
  await import(process.argv[2]);
  const urls = [];
  let report = receiveMessageOnPort(here);
  while (report !== undefined) {
    urls.push(report.message);
    report = receiveMessageOnPort(here);
  }
  here.close();
  const required = Object.keys(createRequire(import.meta.url).cache);
  console.log(JSON.stringify([...urls, ...required.map((path) => `file://${path}`)]));
}
