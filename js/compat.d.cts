// Generated from the module for import. Run make generated after a change of it.
/**
 * Takes the place of bson-objectid:
 * https://github.com/oidkit/oid/blob/main/docs/how-to/from-bson-objectid.md lists what differs.
 *
 * ObjectID(value) and new ObjectID(value) are the same. Without a value they return a new id,
 * greater than every one before. A number is a time in seconds, of a new id. Other values are
 * read: 24 hexadecimal digits, a text of twelve characters below U+0100, twelve bytes, or an
 * id of any library. An ObjectID is returned as it is. A number outside the seconds of 1970
 * to 2106 throws a RangeError, all else a TypeError.
 */
declare const ObjectID: ObjectIDConstructor

declare interface ObjectID {
  /** The twelve bytes, as characters. */
  readonly id: string

  /** The 24 hexadecimal digits, in lower case. */
  readonly str: string

  toHexString(): string
  toString(): string
  toJSON(): string

  /** Returns the second of the creation. */
  getTimestamp(): Date

  /** Reports whether other is the same id: an id of any library, 24 digits, or an id string. */
  equals(other: ObjectIDLike | string | null | undefined): boolean

  /** Returns the id string of a new id, of a time in seconds. */
  generate(time?: number): string
}

declare interface ObjectIDLike {
  toHexString(): string
}

declare interface ObjectIDConstructor {
  (value?: number | string | readonly number[] | Uint8Array | ObjectIDLike | null): ObjectID
  new (value?: number | string | readonly number[] | Uint8Array | ObjectIDLike | null): ObjectID

  /** Returns the smallest id of a time in seconds: a bound to compare with. */
  createFromTime(seconds: number): ObjectID

  /** Reads 24 hexadecimal digits, and nothing else. */
  createFromHexString(text: string): ObjectID

  /** Reports whether ObjectID(value) reads value as an id, or takes it as a time. */
  isValid(value: unknown): boolean

  readonly prototype: ObjectID
  readonly default: ObjectIDConstructor
}

export = ObjectID
