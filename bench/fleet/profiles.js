/** Services of different kinds, as inputs: what differs between them moves the bottleneck. */

/** @type {Record<string, { text: string, given: object }>} */
export const profiles = {
  chat: { text: 'rooms of 50, everybody says something every 20 s', given: {} },
  'chat-by-room': {
    text: 'the same, with all members of a room at one node',
    given: { placement: 'room' },
  },
  pairs: { text: 'conversations of two, a message every 20 s', given: { members: [[2, 1]] } },
  mixed: {
    text: 'half of the people in conversations of two, the others in rooms of 50 and 2,000; a message every 50 s',
    given: {
      members: [
        [2, 0.5],
        [50, 0.4],
        [2000, 0.1],
      ],
      rate: 0.02,
    },
  },
  live: {
    text: 'an event for 10,000, with 10 messages a second',
    given: { members: [[10_000, 1]], rate: 0.001 },
  },
  game: {
    text: 'matches of 20 players who send 10 moves a second of 40 bytes, held for 30 ms',
    given: { members: [[20, 1]], rate: 10, bytes: 40, hold: 30 },
  },
  'game-by-room': {
    text: 'the same, with all players of a match at one node',
    given: { members: [[20, 1]], rate: 10, bytes: 40, hold: 30, placement: 'room' },
  },
  idle: {
    text: 'notices in rooms of 50, each member sends one in three hours: mostly idle connections',
    given: { rate: 0.0001 },
  },
};
