// Generated from the module for import. Run make generated after a change of it.
import { HasHex, ObjectId, Range } from './objectid.cjs'

/** ObjectId, with ids that also have the type of the class that marked them. */
export interface MarkedObjectId<T> {
  new (text: string): ObjectId & T
  readonly prototype: ObjectId & T
  generate(this: void): ObjectId & T
  reseed(this: void): void
  at(this: void, time: Date | number): ObjectId & T
  between(this: void, from: Date | number, to: Date | number): Range<ObjectId & T>
  compare(this: void, a: HasHex, b: HasHex): -1 | 0 | 1
}

/**
 * Makes bson, and with it the MongoDB driver and mongoose, store the ids of this package as
 * ObjectIds. theirs is the class ObjectId of the library that stores them, since each major
 * version of bson refuses the ids of the others: that of mongodb, mongoose.Types or bson.
 *
 * All ids are marked, also those created before. They have the properties of the class's own
 * ids, and are instances of it. Returns ObjectId with a type that fits where the class does.
 */
export function markForBSON<T extends HasHex>(theirs: new (...args: never[]) => T): MarkedObjectId<T>
