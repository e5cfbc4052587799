// See compat.d.ts.

import { ObjectId } from './objectid.js'

const hex = (number, digits) => number.toString(16).padStart(digits, '0')

const refused = (value) =>
  new TypeError(
    'objectid: want 24 hexadecimal digits, 12 bytes, seconds or an ObjectID: ' +
      (typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : typeof value),
  )

/** Returns the first 8 digits of a time in seconds. */
function seconds(time) {
  const whole = Math.floor(parseFloat(time))
  if (!(whole >= 0 && whole <= 0xffffffff)) {
    throw new RangeError('objectid: want seconds from 1970 to 2106, not milliseconds: ' + String(time).slice(0, 40))
  }
  return hex(whole, 8)
}

/** Returns the 24 digits of text, of bytes, or of an id of any library; undefined for all else. */
function digits(value) {
  let text = value
  if (typeof value?.toHexString === 'function') {
    text = value.toHexString()
  } else if (value?.length === 12 && (typeof value === 'string' || Array.isArray(value) || ArrayBuffer.isView(value))) {
    text = Array.from(value, (byte) => {
      if (typeof value === 'string') byte = byte.charCodeAt(0)
      return byte === (byte & 255) ? hex(byte, 2) : '?'
    }).join('')
  }
  if (typeof text === 'string' && /^[\da-f]{24}$/i.test(text)) return text.toLowerCase()
}

class Compat extends ObjectId {
  constructor(value) {
    let text
    if (value == null) text = ObjectId.generate().hex
    else if (typeof value === 'number') text = seconds(value) + ObjectId.generate().hex.slice(8)
    else text = digits(value)
    if (!text) throw refused(value)
    super(text)
  }

  get id() {
    return this.hex.replace(/../g, (byte) => String.fromCharCode(parseInt(byte, 16)))
  }

  get str() {
    return this.hex
  }

  // By this name bson before version 5 stores these ids, and later versions refuse them.
  get _bsontype() {
    return 'ObjectID'
  }

  // mongoose gives marked ids another one, by which it would store a Mixed id as text.
  valueOf() {
    return this
  }

  // Once markForBSON has marked ObjectId, bson stores one in the place of this id.
  toBSON() {
    return super._bsontype ? new ObjectId(this.hex) : this
  }

  generate(time) {
    return new Compat(typeof time === 'number' ? time : null).id
  }

  equals(other) {
    return (typeof other === 'string' || typeof other?.toHexString === 'function') && digits(other) === this.hex
  }

  [Symbol.for('nodejs.util.inspect.custom')]() {
    return 'ObjectID(' + this.hex + ')'
  }
}

export default function ObjectID(id) {
  return id instanceof ObjectID ? id : Reflect.construct(Compat, [id], new.target || ObjectID)
}

ObjectID.prototype = Compat.prototype
ObjectID.prototype.constructor = ObjectID.default = ObjectID

ObjectID.createFromTime = (time) => new ObjectID(seconds(time) + '0'.repeat(16))

ObjectID.createFromHexString = (text) => {
  if (text?.length !== 24) throw refused(text)
  return new ObjectID(text)
}

ObjectID.isValid = (id) => {
  try {
    return id != null && !!ObjectID(id)
  } catch {
    return false
  }
}
