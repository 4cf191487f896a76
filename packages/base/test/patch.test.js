/** What a replaced method looks like, what is put back, and what others may do to it meanwhile. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import patching from '../dist/patch.cjs';

const { Patch, patchMethod, patchReads } = patching;

class Base {
  greet(name, mark = '!') {
    return `hello ${name}${mark}`;
  }
}

/** A replacement that shows that it was there. */
const shouting = (original) =>
  function (...args) {
    return original.apply(this, args).toUpperCase();
  };

const descriptorOf = (target) => Object.getOwnPropertyDescriptor(target, 'greet');
const fresh = () => class extends Base {};
const own = () =>
  class {
    greet(name, mark = '!') {
      return `hello ${name}${mark}`;
    }
  };

describe('patchMethod', () => {
  test('calls the replacement, with this and arguments, which calls the original', () => {
    const Class = own();
    Class.prototype.mark = '?';
    patchMethod(Class.prototype, 'greet', (original) => {
      return function (name) {
        return original.call(this, name, this.mark);
      };
    });
    assert.equal(new Class().greet('you'), 'hello you?');
  });

  test('has the name, the length and the attributes of the original', () => {
    const attributes = [
      { writable: true, enumerable: false, configurable: true },
      { writable: false, enumerable: true, configurable: true },
      { writable: true, enumerable: true, configurable: false },
    ];
    for (const each of attributes) {
      const target = {};
      const before = { value: Base.prototype.greet, ...each };
      Object.defineProperty(target, 'greet', before);
      const patch = patchMethod(target, 'greet', shouting);
      const { value, ...now } = descriptorOf(target);
      assert.deepEqual(now, each);
      assert.deepEqual([value.name, value.length], ['greet', 1]);
      assert.equal(target.greet('you'), 'HELLO YOU!');
      patch.undo();
      assert.deepEqual(descriptorOf(target), before);
    }
  });

  test('replaces a method that has a symbol for a name', () => {
    const key = Symbol('greet');
    const target = { [key]: () => 'hello' };
    const patch = patchMethod(target, key, shouting);
    assert.equal(target[key](), 'HELLO');
    patch.undo();
    assert.equal(target[key](), 'hello');
  });

  test('puts back a getter that gave the method', () => {
    const target = Object.create(null, {
      greet: { get: () => () => 'hello', configurable: true, enumerable: true },
    });
    const before = descriptorOf(target);
    const patch = patchMethod(target, 'greet', shouting);
    assert.equal(target.greet(), 'HELLO');
    assert.ok(patch.isApplied);
    patch.undo();
    assert.deepEqual(descriptorOf(target), before);
  });

  test('throws where a property cannot be replaced, and is not applied then', () => {
    const target = Object.freeze({ greet: () => 'hello' });
    const patch = new Patch(target, 'greet', shouting);
    assert.throws(() => patch.apply(), TypeError);
    assert.equal(patch.isApplied, false);
    patch.undo();
    assert.equal(target.greet(), 'hello');
  });
});

describe('on a derived class', () => {
  test('only its own objects have the replacement, and nothing is left on it', () => {
    const Derived = fresh();
    const patch = patchMethod(Derived.prototype, 'greet', shouting);
    assert.equal(new Derived().greet('you'), 'HELLO YOU!');
    assert.equal(new Base().greet('you'), 'hello you!');
    patch.undo();
    assert.equal(new Derived().greet('you'), 'hello you!');
    assert.ok(!Object.hasOwn(Derived.prototype, 'greet'));
  });

  test('the original is looked up for each call', () => {
    const Parent = own();
    class Derived extends Parent {}
    patchMethod(Derived.prototype, 'greet', shouting);
    const { greet } = Parent.prototype;
    Parent.prototype.greet = (name) => `good day ${name}`;
    assert.equal(new Derived().greet('you'), 'GOOD DAY YOU');
    Parent.prototype.greet = greet;
    assert.equal(new Derived().greet('you'), 'HELLO YOU!');
  });

  test('both classes can be patched, and undone in any order', () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const Parent = own();
      class Derived extends Parent {}
      const bracketed = (original) =>
        function (...args) {
          return `(${original.apply(this, args)})`;
        };
      const patches = [
        patchMethod(Derived.prototype, 'greet', bracketed),
        patchMethod(Parent.prototype, 'greet', shouting),
      ];
      const greeting = () => new Derived().greet('you');
      assert.equal(greeting(), '(HELLO YOU!)');
      patches[order[0]].undo();
      assert.equal(greeting(), order[0] === 0 ? 'HELLO YOU!' : '(hello you!)');
      patches[order[1]].undo();
      assert.equal(greeting(), 'hello you!');
    }
  });
});

describe('apply and undo', () => {
  test('do nothing a second time', () => {
    const Class = own();
    const before = descriptorOf(Class.prototype);
    let made = 0;
    const patch = new Patch(Class.prototype, 'greet', (original) => {
      made++;
      return shouting(original);
    });
    patch.undo();
    patch.apply();
    const first = descriptorOf(Class.prototype);
    patch.apply();
    assert.deepEqual(descriptorOf(Class.prototype), first);
    assert.equal(made, 1);
    patch.undo();
    patch.undo();
    assert.deepEqual(descriptorOf(Class.prototype), before);
  });

  test('can be repeated, with what is there by then as the original', () => {
    const Class = own();
    const patch = patchMethod(Class.prototype, 'greet', shouting);
    patch.undo();
    Class.prototype.greet = () => 'good day';
    patch.apply();
    assert.equal(new Class().greet(), 'GOOD DAY');
    patch.undo();
    assert.equal(new Class().greet(), 'good day');
  });

  test('leave a later replacement of others in place', () => {
    const Class = own();
    const patch = patchMethod(Class.prototype, 'greet', shouting);
    const ours = Class.prototype.greet;
    const theirs = function (...args) {
      return `<${ours.apply(this, args)}>`;
    };
    Class.prototype.greet = theirs;
    patch.undo();
    assert.equal(Class.prototype.greet, theirs);
    assert.ok(patch.isApplied);
    patch.apply();
    assert.equal(Class.prototype.greet, theirs);
    assert.equal(new Class().greet('you'), '<HELLO YOU!>');
    // Once theirs is gone, ours can be put back after all.
    Class.prototype.greet = ours;
    patch.undo();
    assert.equal(new Class().greet('you'), 'hello you!');
  });

  test('apply again when others have put the original back, and leave nothing behind', () => {
    const Derived = fresh();
    const target = new Derived();
    const patch = patchMethod(target, 'greet', shouting);
    // As sockets of Node.js do with their `write` when they connect.
    target.greet = Base.prototype.greet;
    assert.equal(patch.isApplied, false);
    patch.apply();
    assert.equal(target.greet('you'), 'HELLO YOU!');
    patch.undo();
    assert.ok(!Object.hasOwn(target, 'greet'));
  });

  test('apply again when the method of the prototype comes in place of one that the object had', () => {
    const target = new (fresh())();
    target.greet = () => 'its own';
    const patch = patchMethod(target, 'greet', shouting);
    assert.equal(target.greet('you'), 'ITS OWN');
    target.greet = Base.prototype.greet;
    assert.equal(patch.isApplied, false);
    patch.apply();
    assert.match(target.greet('you'), /^[A-Z !]+$/);
  });

  test('begin anew when others put the original back before undo()', () => {
    const Class = own();
    const { greet } = Class.prototype;
    const patch = patchMethod(Class.prototype, 'greet', shouting);
    Class.prototype.greet = greet;
    patch.undo();
    Class.prototype.greet = () => 'good day';
    assert.equal(patch.isApplied, false);
    patch.apply();
    assert.equal(new Class().greet(), 'GOOD DAY');
  });

  test('a replacement of others that keeps ours below does not run in circles', () => {
    const Class = own();
    const patch = patchMethod(Class.prototype, 'greet', shouting);
    const kept = Class.prototype.greet;
    patch.undo();
    Class.prototype.greet = function (...args) {
      return `<${kept.apply(this, args)}>`;
    };
    patch.apply();
    assert.equal(new Class().greet('you'), '<HELLO YOU!>');
  });
});

describe('patchReads', () => {
  test('sees each read of a value, which can be set as before', () => {
    for (const before of [undefined, 1]) {
      const target = before === undefined ? {} : { value: before };
      const seen = [];
      const patch = patchReads(target, 'value', (of) => seen.push(of));
      assert.equal(target.value, before);
      target.value = 2;
      assert.equal(target.value, 2);
      assert.deepEqual(seen, [target, target]);
      patch.undo();
      assert.deepEqual(Object.getOwnPropertyDescriptor(target, 'value'), {
        value: 2,
        writable: true,
        enumerable: true,
        configurable: true,
      });
      assert.equal(seen.length, 2);
    }
  });

  test('leaves nothing behind where nothing was', () => {
    const target = {};
    patchReads(target, 'value', () => {}).undo();
    assert.deepEqual(Object.getOwnPropertyDescriptors(target), {});
  });

  test('sees each read of a getter, with the object that is read', () => {
    const seen = [];
    class Class {
      get size() {
        return this.items;
      }
      set size(items) {
        this.items = items;
      }
    }
    const before = Object.getOwnPropertyDescriptor(Class.prototype, 'size');
    const patch = patchReads(Class.prototype, 'size', (of) => seen.push(of));
    const object = new Class();
    object.size = 3;
    assert.equal(object.size, 3);
    assert.deepEqual(seen, [object]);
    patch.undo();
    assert.deepEqual(Object.getOwnPropertyDescriptor(Class.prototype, 'size'), before);
  });

  test('leaves a later getter of others in place', () => {
    const target = { value: 1 };
    const patch = patchReads(target, 'value', () => {});
    const theirs = { get: () => 5, set: undefined, enumerable: true, configurable: true };
    Object.defineProperty(target, 'value', theirs);
    patch.undo();
    assert.deepEqual(Object.getOwnPropertyDescriptor(target, 'value'), theirs);
  });
});

test('a replacement has the symbols of its original, by which promisify knows the values', async () => {
  const target = {
    lookup(callback) {
      callback(null, 'address', 4);
    },
  };
  target.lookup[promisify.custom] = async () => 'of the original';
  patchMethod(
    target,
    'lookup',
    (original) =>
      function lookup(...args) {
        return original.apply(this, args);
      },
  );
  assert.equal(await promisify(target.lookup)(), 'of the original');
});
