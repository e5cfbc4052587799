/** A range of ids as a MongoDB query: { _id: ObjectId.between(from, to) }. */
export interface Range<T = ObjectId> {
  $gte: T
  $lt: T
}

/** An id of any library, such as that of bson. */
export interface HasHex {
  toHexString(): string
}

/**
 * An ObjectId: 4 bytes of Unix seconds, 5 random bytes of the process, and a 3-byte counter.
 * Ids are not secret: each shows its time, and others can be guessed from it.
 */
export class ObjectId {
  /** The 24 hexadecimal digits, in lower case. */
  readonly hex: string

  /**
   * Reads 24 hexadecimal digits of either case. Throws a TypeError for everything else,
   * also for no argument: generate() is what creates an id.
   */
  constructor(text: string)

  /**
   * Returns a new id, greater than every one that it returned before, whatever the clock
   * does: when the counter overflows or the clock is set back, the seconds of the ids lead the
   * clock. It never waits. Each worker, tab and process has ids of its own. New random bytes
   * are drawn when performance.timeOrigin changes, as when a program starts from a snapshot of
   * its heap; the seconds then go on by one, so that ids still increase. Throws a TypeError if
   * there is no crypto.getRandomValues, and an Error when no ids are left, in 2106.
   */
  static generate(this: void): ObjectId

  /**
   * Makes the next id draw new random bytes. Call it when a virtual machine that may have been
   * copied resumes: nothing tells a program that it was copied.
   */
  static reseed(this: void): void

  /**
   * Returns the smallest id of the second of a time, given as a Date or in milliseconds: a
   * bound to compare with, not an id to store. A time before 1970 or after
   * 2106-02-07T06:28:15Z counts as the nearest second that fits. Throws a TypeError for
   * everything else: text, null, a Date that is not valid, and a number that must be seconds
   * (10 digits) or microseconds (16 digits or more). A Date is always taken as it is.
   */
  static at(this: void, time: Date | number): ObjectId

  /**
   * Returns the range of the ids created at from or later, and before to. Ids carry whole
   * seconds only, so from is rounded down and to up. The range has no ids if to is before
   * from. For a range without an end write { $gte: ObjectId.at(from) }.
   */
  static between(this: void, from: Date | number, to: Date | number): Range

  /** Returns -1, 0 or 1, in the order of creation: ids.sort(ObjectId.compare). */
  static compare(this: void, a: HasHex, b: HasHex): -1 | 0 | 1

  /** Returns the second of the creation. */
  getTimestamp(): Date

  /** Reports whether other is the same id, of whatever library. */
  equals(other: HasHex | null | undefined): boolean

  toHexString(): string
  toString(): string
  toJSON(): string

  /**
   * Throws a TypeError until markForBSON was called: without that, bson would store an id as
   * the document { hex: ... }, which no query finds.
   */
  toBSON(): never
}
