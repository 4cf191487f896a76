import { ChatError } from './errors.js';

/** Runs a moderator's command: kick, mute, unmute, delete. The moderator of a room is whoever created it. */
export async function moderate(chat, moderator, { room: name, action, target }) {
  const room = moderator.rooms.get(name);
  if (room === undefined)
    throw new ChatError('not_in_room', `You are not in ${name}; join it first.`);
  if (!room.isModerator(moderator)) {
    throw new ChatError('not_moderator', `Only the moderator of ${name} can do that.`);
  }
  if (action === 'delete') await remove(chat, room, moderator, target);
  else discipline[action](chat, room, moderator, findTarget(chat, room, moderator, target));
  chat.delivery.bus.emit('moderation', { room: name, action, target, by: moderator.name });
}

const discipline = {
  kick(chat, room, moderator, person) {
    room.kick(person, Date.now() + chat.limits.kickMs);
    // Told before they are taken out, so that the one concerned hears it too.
    chat.notice(room, 'kick', `${moderator.name} removed ${person.name}.`, { name: person.name });
    if (person.rooms?.get(room.name) === room) {
      chat.depart(person, room);
      chat.delivery.send(
        person.ws,
        JSON.stringify({ t: 'left', room: room.name, reason: 'kick' }),
        'high',
      );
    }
  },

  mute(chat, room, moderator, person) {
    room.mute(person);
    chat.notice(room, 'mute', `${moderator.name} muted ${person.name}.`, { name: person.name });
  },

  unmute(chat, room, moderator, person) {
    room.unmute(person);
    chat.notice(room, 'unmute', `${moderator.name} unmuted ${person.name}.`, { name: person.name });
  },
};

async function remove(chat, room, moderator, id) {
  const message = await chat.storage.remove(room.name, id);
  if (message === undefined) throw new ChatError('unknown_message', `There is no message ${id}.`);
  room.forget(id);
  // The next who joins is to get a full page again.
  room.isStale = true;
  if (message.file) await chat.files.remove(message.file.id);
  chat.notice(room, 'delete', `${moderator.name} deleted a message by ${message.from}.`, { id });
}

// Somebody who speaks over HTTP, or has left meanwhile, is known by name alone.
function findTarget(chat, room, moderator, name) {
  const person = chat.people.byName(name);
  if (person === moderator) throw new ChatError('bad_target', 'You cannot do that to yourself.');
  if (person) return person;
  const hasSpoken = room.recent.some(({ frame }) => JSON.parse(frame).from === name);
  if (!hasSpoken) throw new ChatError('unknown_person', `There is no ${name} in ${room.name}.`);
  return { name };
}
