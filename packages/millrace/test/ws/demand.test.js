/** When the gathering of auto begins and ends for a class of WebSockets. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Sender, WebSocket } from 'ws';
import { Demand } from '../../dist/ws/demand.js';
import { installAutomatically } from '../../dist/ws/transparent.js';
import { openHall, range, turn } from './hall.js';

describe('the demand for gathering', () => {
  const [one, other] = [{}, {}];
  /** Plays turns, each a list of frames; counts the turns whose end was asked for. */
  function player() {
    const state = { asked: 0, isAsked: false };
    const demand = new Demand(() => {
      state.asked += state.isAsked ? 0 : 1;
      state.isAsked = true;
    });
    const play = (frames, saved = 0) => {
      for (const [sender, content] of frames)
        if (!demand.isThere) demand.beginsWith(sender, content);
      if (demand.isThere || state.isAsked) demand.turnEnds(saved);
      state.isAsked = false;
    };
    return { demand, state, play };
  }

  it('begins with the second frame of a turn for a socket, whatever it says', () => {
    const { demand, play } = player();
    play([
      [one, 'a'],
      [other, 'b'],
    ]);
    assert.equal(demand.isThere, false);
    for (const n of range(16)) play([[n % 2 ? one : other, `${n}`]]);
    assert.equal(demand.isThere, false, 'one frame for a turn');
    play([
      [one, 'a'],
      [one, 'b'],
    ]);
    assert.equal(demand.isThere, false, 'neither of them is a sample');
  });

  it('is found after a while, whatever the length of the bursts', () => {
    for (let length = 2; length < 40; length++) {
      const { demand, play } = player();
      play([[other, 'before']]);
      for (let turns = 0; turns < 40 && !demand.isThere; turns++) {
        play(range(length).map((n) => [one, `${n}`]));
      }
      assert.equal(demand.isThere, true, `bursts of ${length}`);
    }
  });

  it('begins with the same content for a second socket', () => {
    const contents = [
      ['a', 'a'],
      [Buffer.from('a'), Buffer.from('a')],
    ];
    for (const [first, second] of contents) {
      const { demand, play } = player();
      play([
        [one, first],
        [other, second],
      ]);
      assert.equal(demand.isThere, true);
    }
  });

  it('asks for the end of few turns while they bring single frames', () => {
    const { state, play } = player();
    for (const n of range(156)) play([[one, `${n}`]]);
    assert.equal(state.asked, 4);
    for (const n of range(4096)) play([[one, `${n}`]]);
    assert.equal(state.asked, 4 + 6, 'one in 1,024 at last');
  });

  it('does not begin with the same content for a second socket if nobody has to encode it', () => {
    const { demand, play } = player();
    play([
      [one, null],
      [other, null],
    ]);
    assert.equal(demand.isThere, false);
    for (let turns = 0; turns < 40 && !demand.isThere; turns++) {
      play([
        [one, null],
        [one, null],
      ]);
    }
    assert.equal(demand.isThere, true);
  });

  it('samples often again once gathering has paid', () => {
    const { demand, state, play } = player();
    for (const n of range(3000)) play([[one, `${n}`]]);
    for (let n = 0; n < 2000 && !demand.isThere; n++) {
      play([
        [one, `${n}`],
        [one, `${n}`],
      ]);
    }
    assert.equal(demand.isThere, true);
    for (const _ of range(17)) play([]);
    assert.equal(demand.isThere, false);
    state.asked = 0;
    for (const n of range(156)) play([[one, `${n}`]]);
    assert.equal(state.asked, 4);
  });

  it('ends after sixteen turns that have saved nothing', () => {
    const { demand, play } = player();
    const burst = [
      [one, 'a'],
      [one, 'b'],
    ];
    play(burst, 0);
    for (const n of range(20)) play([], n + 1);
    for (const _ of range(15)) play([], 20);
    play([], 21);
    for (const _ of range(15)) play([], 21);
    assert.equal(demand.isThere, true);
    play([], 21);
    assert.equal(demand.isThere, false);
  });
});

/** What auto has installed, and how many frames ws has written itself to each of the peers. */
async function setUp(t, count) {
  const hall = await openHall(t);
  const written = new Map();
  const original = Sender.prototype.sendFrame;
  Sender.prototype.sendFrame = function (parts, ...rest) {
    if (parts[0][0] === 0x81) written.set(this, (written.get(this) ?? 0) + 1);
    return original.call(this, parts, ...rest);
  };
  const installation = installAutomatically(WebSocket, {});
  t.after(() => {
    installation.uninstall();
    Sender.prototype.sendFrame = original;
  });
  const peers = await hall.connectMany(count);
  return { peers, installation, byWs: ({ server }) => written.get(server._sender) ?? 0 };
}

it('single frames are written by ws, and counted', async (t) => {
  const { peers, installation, byWs } = await setUp(t, 4);
  for (const n of range(40)) {
    peers[n % 4].server.send(`text ${n}`);
    await turn();
  }
  for (const peer of peers) {
    assert.equal((await peer.take()).length, 10);
    assert.equal(byWs(peer), 10);
  }
  const { frames, writes, encoded, groups } = installation.stats();
  assert.deepEqual([frames, writes, encoded, groups], [40, 40, 40, 0]);
});

it('a socket with single frames is left to ws while another one sends several', async (t) => {
  const { peers, installation, byWs } = await setUp(t, 2);
  const [busy, quiet] = peers;
  for (const n of range(20)) {
    quiet.server.send(`quiet ${n}`);
    for (const k of range(5)) busy.server.send(`busy ${n} ${k}`);
    await turn();
  }
  assert.equal((await quiet.take()).length, 20);
  assert.equal((await busy.take()).length, 100);
  assert.equal(byWs(quiet), 20);
  assert.ok(byWs(busy) < 20);
  assert.ok(installation.stats().writes < 80, 'the others have left together');
});

it('a broadcast is encoded once, although its turns bring single frames', async (t) => {
  const { peers, installation, byWs } = await setUp(t, 8);
  for (const n of range(10)) {
    for (const { server } of peers) server.send(`round ${n}`);
    await turn();
  }
  for (const peer of peers) assert.equal((await peer.take()).length, 10);
  const { frames, encoded } = installation.stats();
  assert.equal(frames, 80);
  assert.ok(encoded <= 2 * 10 + 8, `${encoded} are encoded`);
  assert.equal(byWs(peers.at(-1)), 0);
});
