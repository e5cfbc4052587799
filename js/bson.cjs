// Generated from the module for import. Run make generated after a change of it.
'use strict'
// See bson.d.ts.

const { ObjectId } = require('./objectid.cjs')

function markForBSON(version) {
  const bytes = {
    get() {
      return Uint8Array.from(this.hex.match(/../g), (digits) => parseInt(digits, 16))
    },
    configurable: true,
  }
  const constant = (value) => ({ value, configurable: true })
  Object.defineProperties(ObjectId.prototype, {
    _bsontype: constant('ObjectId'),
    [Symbol.for('@@mdb.bson.type')]: constant('ObjectId'),
    [Symbol.for('@@mdb.bson.version')]: constant(version),
    id: bytes,
    buffer: bytes,
    serializeInto: constant(function (buffer, index) {
      buffer.set(this.id, index)
      return 12
    }),
  })
}

exports.markForBSON = markForBSON
