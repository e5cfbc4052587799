// Generated from the module for import. Run make generated after a change of it.
declare module './objectid.cjs' {
  interface ObjectId {
    /** The twelve bytes, once markForBSON was called. */
    readonly id: Uint8Array
  }
}

/**
 * Marks ObjectId so that bson, and with it the MongoDB driver and mongoose, takes its ids for
 * its own. version is the major version of bson, 6 or 7, which is that of the driver: bson
 * refuses what has another one.
 */
export function markForBSON(version: 6 | 7): void
