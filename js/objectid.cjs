// Generated from the module for import. Run make generated after a change of it.
'use strict'
// See objectid.d.ts for what each member promises.

const hex = (word) => word.toString(16).padStart(8, 0)

/** Returns the smallest id of the second to which round brings a time. */
const bound = (time, round) => {
  // A number of 10 digits counts seconds, one of 16 or more microseconds or smaller units.
  if (!Number.isFinite(time?.valueOf()) || /^(\d{10}|\d{16,})\b/.test(time)) {
    throw new TypeError('objectid: want a Date or milliseconds: ' + String(time))
  }
  return new ObjectId(hex(Math.min(Math.max(round(time / 1000), 0), 0xffffffff)) + hex(0) + hex(0))
}

// What generate() knows. (second, counter) only increases: each id is greater than the one
// before, whatever the clock does.
let second = -1
let origin = -1 // that of this process, never below 0: a snapshot of the heap starts in others
let random // five bytes of this process, then the three of the counter

class ObjectId {
  constructor(text) {
    this.hex = text?.toLowerCase?.() // only strings have it
    if (!/^[\da-f]{24}$/.test(this.hex)) {
      throw new TypeError('objectid: want 24 hexadecimal digits: ' + String(text))
    }
  }

  static generate() {
    if (origin !== globalThis.performance?.timeOrigin) {
      // Not when the module is loaded: some platforms have no random values at that time.
      if (!globalThis.crypto?.getRandomValues) throw new TypeError('objectid: no crypto.getRandomValues')
      random = crypto.getRandomValues(new Uint32Array(2))
      random[0] ^= Date.now() ^ (origin * 1e6)
      origin = globalThis.performance?.timeOrigin
      second++ // since the new random bytes may be smaller than those before
    }
    if (!(++random[1] << 8)) {
      // The counter overflowed: carry into the second, not into the random bytes.
      random[1] -= 1 << 24
      second++
    }
    second = Math.max(second, Math.min(Math.floor(Date.now() / 1000 || 0), 0xffffffff))
    if (second > 0xffffffff) throw new Error('objectid: no ids left')
    return new ObjectId(hex(second) + hex(random[0]) + hex(random[1]))
  }

  static reseed() {
    // Copies of a process draw the same bytes if crypto keeps its state in their memory. Their
    // clocks differ, which the next draw mixes in.
    origin = -1 - globalThis.performance?.now()
  }

  static at(time) {
    return bound(time, Math.floor)
  }

  static between(from, to) {
    return { $gte: bound(from, Math.floor), $lt: bound(to, Math.ceil) }
  }

  static compare(a, b) {
    return (a.toHexString() > b.toHexString()) - (a.toHexString() < b.toHexString())
  }

  getTimestamp() {
    return new Date(('0x' + this.hex.slice(0, 8)) * 1000)
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

  // bson calls this one, and would store {hex: ...} without it. markForBSON removes it.
  toBSON() {
    throw new TypeError('objectid: call markForBSON')
  }
}

exports.ObjectId = ObjectId
