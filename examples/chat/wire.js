/** A stored message as the frame that clients get: one JSON.stringify per message, however many members there are. */
export function toFrame({ room, id, from, text, at, file }) {
  if (file === undefined) return JSON.stringify({ t: 'msg', room, id, from, text, at });
  return JSON.stringify({ t: 'file', room, id, from, text, at, file: toLink(room, file) });
}

/** A file as clients see it, with the path to get it from. */
export function toLink(room, { id, name, size, type }) {
  return { id, name, size, type, url: `/api/rooms/${encodeURIComponent(room)}/files/${id}` };
}

/** A page of history as the body of an HTTP response: messages as their frames. */
export function pageBody(room, messages) {
  return `{"room":${JSON.stringify(room)},"messages":[${messages.map(toFrame).join(',')}]}`;
}

/** The answer to a join. The history is put together from frames made earlier. */
export function joinedFrame(room, members) {
  const head = JSON.stringify({ t: 'joined', room: room.name, members });
  const history = room.recent.map((message) => message.frame).join(',');
  const moderator = JSON.stringify(room.moderator);
  return `${head.slice(0, -1)},"history":[${history}],"moderator":${moderator}}`;
}

export function presenceFrame(room, name, on) {
  return JSON.stringify({ t: 'presence', room, name, on });
}

/** Something everybody should know, first in line: `kind` says what, the other fields to whom or what it happened. */
export function noticeFrame(room, kind, text, fields) {
  return JSON.stringify({ t: 'notice', room, kind, text, ...fields });
}

export function errorFrame({ code, message, ref }) {
  return JSON.stringify({ t: 'error', code, message, ref });
}
