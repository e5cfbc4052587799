// Generated from the module for import. Run make generated after a change of it.
'use strict'
// See objectid.d.ts for what each member promises.

const last = 0xffffffff // the last second that fits: 2106-02-07T06:28:15Z
const hex = (number, digits) => number.toString(16).padStart(digits, '0')

// What generate() knows. (second, counter) only increases: each id is greater than the one
// before, whatever the clock does.
let origin // of this process: a snapshot of the heap starts in others
let value // five random bytes
let counter
let second = 0

/** Returns the hexadecimal digits of the next id. */
function next() {
  const here = (globalThis.process?.pid | 0) + (globalThis.performance?.timeOrigin || 0)
  if (here !== origin) {
    // Not when the module is loaded: some platforms have no random values at that time.
    const random = crypto.getRandomValues(new Uint32Array(2))
    value = hex(random[0], 8) + hex(random[1] >>> 24, 2)
    counter = random[1]
    origin = here
  }
  const now = Math.min(Math.floor(Date.now() / 1000), last)
  counter = (counter + 1) & 0xffffff
  if (now > second) second = now
  else if (counter === 0) second++ // the counter overflowed: carry
  if (second > last) throw new RangeError('objectid: no ids left before the end of time')
  return hex(second, 8) + value + hex(counter, 6)
}

/** Returns the digits of the smallest id of a second. */
const bound = (seconds) => hex(Math.min(Math.max(seconds, 0), last), 8) + '0'.repeat(16)

class ObjectId {
  constructor(text) {
    if (typeof text !== 'string' || !/^[\da-f]{24}$/i.test(text)) {
      throw new TypeError('objectid: want 24 hexadecimal digits: ' + String(text))
    }
    this.hex = text.toLowerCase()
  }

  static generate() {
    return new this(next())
  }

  static at(time) {
    return new this(bound(Math.floor(time / 1000)))
  }

  static between(from, to) {
    return { $gte: this.at(from), $lt: new this(bound(Math.ceil(to / 1000))) }
  }

  static compare(a, b) {
    a = a.toHexString()
    b = b.toHexString()
    return a < b ? -1 : a > b ? 1 : 0
  }

  getTimestamp() {
    return new Date(parseInt(this.hex.slice(0, 8), 16) * 1000)
  }

  equals(other) {
    return other?.toHexString?.() === this.hex
  }

  toHexString() {
    return this.hex
  }

  toString() {
    return this.hex
  }

  toJSON() {
    return this.hex
  }
}

exports.ObjectId = ObjectId
