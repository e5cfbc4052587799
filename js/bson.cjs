// Generated from the module for import. Run make generated after a change of it.
'use strict'
// See bson.d.ts.

const { ObjectId } = require('./objectid.cjs')

const bytes = ({ hex }) => Uint8Array.from(hex.match(/../g), (digits) => parseInt(digits, 16))

function markForBSON(theirs) {
  // createPk is what the driver calls for an _id. All versions of bson have it, we do not.
  if (typeof theirs?.createPk !== 'function') {
    throw new TypeError(
      'objectid: want the class ObjectId of bson, mongodb or mongoose: ' + (theirs?.name ?? typeof theirs),
    )
  }
  // Here bson finds the type and the version that it looks for.
  Object.setPrototypeOf(ObjectId.prototype, theirs.prototype)
  const define = (key, value) => Object.defineProperty(ObjectId.prototype, key, { configurable: true, ...value })
  // Until 6.4, bson reads the bytes of an id by a symbol of its own.
  for (const key of ['id', 'buffer', ...Object.getOwnPropertySymbols(new theirs())]) {
    define(key, {
      get() {
        return bytes(this)
      },
    })
  }
  define('serializeInto', {
    value(buffer, index) {
      buffer.set(bytes(this), index)
      return 12
    },
  })
  define('equals', {
    value(other) {
      // What was read from JSON can have members with the names of methods.
      const text = typeof other?.toHexString === 'function' ? other.toHexString() : other
      return typeof text === 'string' && text.toLowerCase() === this.hex
    },
  })
  define('toBSON', { value: undefined })
  return ObjectId
}

exports.markForBSON = markForBSON
