// The tests of plugins of fastify: proxies, uploads, files, templates, WebSockets.
import { underAuto } from './lib/under-auto.js';

underAuto({
  name: '@fastify/http-proxy',
  files: /^(?!ws-reconnect)[^/\\]+\.js$/,
  least: 115,
  active: ['ws'],
});
// Those that are left out upload a GB, or wait 14 s.
underAuto({
  name: '@fastify/multipart',
  files: /^(?!big|generate-id|.*incomplete)[^/\\]+\.test\.js$/,
  least: 130,
});
// One of an action each; those that are left out are of the same kind, or wait for timeouts.
underAuto({
  name: '@fastify/reply-from',
  files: /^(full-(delete|get|https|post).*|http[^2].*|http2-https|multipart.*|unix.*)\.test\.js$/,
  least: 50,
});
underAuto({ name: '@fastify/send', files: /\.test\.js$/, least: 200 });
underAuto({ name: '@fastify/static', files: /^[^/\\]+\.test\.js$/, least: 370 });
underAuto({
  name: '@fastify/view',
  files: /^(ejs|handlebars|index|liquid|mustache).*\.test\.js$/,
  least: 155,
  active: ['fs'],
});
underAuto({ name: '@fastify/websocket', files: /\.test\.js$/, least: 65, active: ['ws'] });
