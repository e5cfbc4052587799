package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/testenv"
)

// drivers are the versions of mongoose, each with the MongoDB driver and the bson that it uses.
func drivers(t *testing.T) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for _, version := range []string{"8.24.10", "9.12.1"} {
		folder := testenv.NodeModules(t, "mongoose", version)
		all["mongoose "+version] = map[string]string{"mongoose": folder, "mongodb": folder, "bson": folder}
	}
	return all
}

// calls gives an id to each way into a database, and prints the ways that do not throw.
const calls = checks + `
import { markForBSON } from '@oidkit/objectid/bson'
import ObjectID from '@oidkit/objectid/compat'
import * as bson from 'bson'
import mongodb from 'mongodb'
import mongoose from 'mongoose'
const url = process.env.MONGODB_URL
const client = await mongodb.MongoClient.connect(url)
const coll = client.db().collection('driver')
await mongoose.connect(url)
const { ObjectId: Path, Mixed } = mongoose.Schema.Types
const Model = mongoose.model('Model', new mongoose.Schema({
  _id: { type: Path, default: ObjectId.generate }, owner: Path, mixed: Mixed, map: { type: Map, of: Mixed }, list: [Mixed],
}))
const ways = (id) => ({
  serialize: () => bson.serialize({ id }),
  deep: () => bson.serialize({ list: [{ id }] }),
  calculateObjectSize: () => bson.calculateObjectSize({ id }),
  insertOne: () => coll.insertOne({ _id: id }),
  insertMany: () => coll.insertMany([{ owner: id }, { owner: id }]),
  bulkWrite: () => coll.bulkWrite([{ insertOne: { document: { owner: id } } }]),
  find: () => coll.find({ _id: { $gte: id } }).toArray(),
  findOne: () => coll.findOne({ _id: id }),
  updateOne: () => coll.updateOne({}, { $set: { owner: id } }),
  deleteOne: () => coll.deleteOne({ _id: { $in: [id] }, no: 1 }),
  aggregate: () => coll.aggregate([{ $match: { _id: id } }]).toArray(),
  'mongoose Mixed': () => Model.create({ mixed: id }),
  'mongoose Mixed, deep': () => Model.create({ mixed: { a: [id] } }),
  'mongoose Map': () => Model.create({ map: { a: id } }),
  'mongoose list of Mixed': () => Model.create({ list: [id] }),
  'mongoose insertMany': () => Model.insertMany([{ mixed: id }]),
  'mongoose update of Mixed': () => Model.updateOne({}, { mixed: id }),
  'mongoose find in Mixed': () => Model.find({ mixed: id }),
})
`

// An id that bson would store as {hex: ...} is refused by every way into a database, and
// nothing is stored. mongoose turns it into one of its own where the schema says ObjectId.
func TestJavaScriptUnmarkedIsLoud(t *testing.T) {
	for name, packages := range drivers(t) {
		t.Run(name, func(t *testing.T) {
			url, _ := testenv.FerretDB(t)
			t.Setenv("MONGODB_URL", url)
			node(t, calls+`
const id = ObjectId.generate()
for (const [name, way] of Object.entries(ways(id)))
  await assert.rejects(async () => way(), { name: 'TypeError', message: 'objectid: call markForBSON' }, name)
assert.equal(await coll.countDocuments() + await Model.countDocuments(), 0)
assert.equal((await coll.insertOne({ n: 1 })).acknowledged, true) // the connection is still good
await coll.drop()
const doc = await Model.create({ owner: id })
const read = await Model.findOne({ owner: id, _id: ObjectId.between(Date.now() - 1e6, Date.now() + 1e6) }).lean()
assert.ok(id.equals(read.owner) && doc._id.equals(read._id) && read._id instanceof mongodb.ObjectId)
await Model.deleteMany()
await client.close()
await mongoose.disconnect()
`, packages)
		})
	}
}

// Marked ids are stored and found as those of the library.
func TestJavaScriptMarked(t *testing.T) {
	for name, packages := range drivers(t) {
		t.Run(name, func(t *testing.T) {
			url, _ := testenv.FerretDB(t)
			t.Setenv("MONGODB_URL", url)
			node(t, calls+`
const early = ObjectId.generate()
assert.equal(markForBSON(mongodb.ObjectId), ObjectId)
for (const id of [early, ObjectId.generate(), ObjectID()]) {
  for (const [name, way] of Object.entries(ways(id))) await way().catch?.((e) => assert.fail(name + ': ' + e))
  const stored = [...await coll.find().toArray(), ...await Model.find().lean()]
  const ids = (v) => v instanceof mongodb.ObjectId ? [v] : v !== null && typeof v === 'object' ? Object.values(v).flatMap(ids) : []
  assert.equal(ids(stored).filter((v) => id.equals(v)).length, 10, JSON.stringify(stored))
  assert.ok(!JSON.stringify(stored).includes('"hex"'))
  await coll.deleteMany()
  await Model.deleteMany()
}
const own = mongodb.MongoClient
const made = await own.connect(url, { pkFactory: { createPk: ObjectId.generate } })
const { insertedId } = await made.db().collection('driver').insertOne({ n: 1 })
assert.ok(insertedId.hex && (await coll.findOne({ _id: insertedId })).n === 1)
await coll.drop()
for (const c of [client, made]) await c.close()
await mongoose.disconnect()
`, packages)
		})
	}
}

// bson takes the ids for its own, in each major version.
func TestJavaScriptWithBSON(t *testing.T) {
	for _, version := range []string{"4.7.2", "5.5.1", "6.0.0", "6.10.4", "7.1.0", "7.3.4"} {
		t.Run(version, func(t *testing.T) {
			node(t, checks+`
import { markForBSON } from '@oidkit/objectid/bson'
import * as bson from 'bson'
import { inspect } from 'node:util'
const id = ObjectId.generate()
const theirs = new bson.ObjectId(id.hex)
assert.ok(id.equals(theirs))
assert.equal(ObjectId.compare(id, theirs), 0)
assert.throws(() => bson.serialize({ id }), { message: 'objectid: call markForBSON' })
for (const bad of [undefined, null, 7, bson, ObjectId, class Other {}, bson.ObjectId.prototype])
  assert.throws(() => markForBSON(bad), { name: 'TypeError', message: /^objectid: want the class ObjectId of bson, mongodb or mongoose: / })
assert.throws(() => bson.serialize({ id }), { message: 'objectid: call markForBSON' })
for (const again of [1, 2]) {
  assert.equal(markForBSON(bson.ObjectId), ObjectId)
  assert.deepEqual(bson.serialize({ _id: id, list: [id] }), bson.serialize({ _id: theirs, list: [theirs] }))
  assert.equal(bson.calculateObjectSize({ id }), bson.calculateObjectSize({ id: theirs }))
  assert.equal(bson.EJSON.stringify({ id }), bson.EJSON.stringify({ id: theirs }))
  assert.ok(theirs.equals(id) && new bson.ObjectId(id).equals(theirs) && bson.ObjectId.isValid(id))
  assert.ok(id instanceof bson.ObjectId && id instanceof ObjectId)
  assert.equal(inspect(id), inspect(theirs))
  assert.equal(Buffer.from(id.id).toString('hex'), id.hex)
  assert.ok(id.equals(theirs) && id.equals(id.hex) && id.equals(id.hex.toUpperCase()))
  for (const other of [undefined, null, '', 5, {}, [id.hex], Object.create(null), Symbol('x'), ObjectId.generate(),
    { toHexString: 5 }, { toLowerCase: 5 }, { toHexString: () => 5 }]) assert.ok(!id.equals(other))
  assert.deepEqual(Object.keys(id), ['hex'])
  assert.equal(JSON.stringify({ id }), JSON.stringify({ id: id.hex }))
  assert.deepEqual(structuredClone(id), { hex: id.hex })
}
class Sub extends ObjectId { get id() { return 'twelve bytes' } }
if (bson.ObjectId.prototype.serializeInto) assert.deepEqual(bson.serialize({ id: new Sub(id.hex) }), bson.serialize({ id }))
`, map[string]string{"bson": testenv.NodeModules(t, "bson", version)})
		})
	}
}

// Ids marked for one major version are refused by the others, as those of bson are.
func TestJavaScriptWithTwoVersionsOfBSON(t *testing.T) {
	six, seven := testenv.NodeModules(t, "bson", "6.10.4"), testenv.NodeModules(t, "bson", "7.3.4")
	node(t, checks+`
import { markForBSON } from '@oidkit/objectid/bson'
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
const [six, seven] = [require('`+six+`/bson'), require('`+seven+`/bson')]
const id = ObjectId.generate()
for (const [one, other] of [[six, seven], [seven, six]]) {
  markForBSON(one.ObjectId)
  one.serialize({ id })
  assert.throws(() => other.serialize({ id }), { name: 'BSONVersionError' })
}
`, nil)
}

// readmeBlocks returns the programs of js/README.md.
func readmeBlocks(t *testing.T) []string {
	t.Helper()
	readme := testenv.Must(os.ReadFile(library + "README.md"))(t)
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```js\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// The programs of the README print what they say.
func TestJavaScriptReadme(t *testing.T) {
	url, _ := testenv.FerretDB(t)
	url = strings.TrimSuffix(url, "/test")
	want := []string{
		"(?s)^[0-9a-f]{24}\n20.*Z\n{\"id\":\"[0-9a-f]{24}\"}\ntrue 0\n6ae681000000000000000000\n$",
		"^true true\n1 0\n$",
		"^1\n$",
	}
	blocks := readmeBlocks(t)
	if len(blocks) != len(want) {
		t.Fatalf("js/README.md has %d blocks, want %d", len(blocks), len(want))
	}
	packages := drivers(t)["mongoose 9.12.1"]
	for i, block := range blocks {
		out := node(t, strings.ReplaceAll(block, "mongodb://127.0.0.1:27017", url), packages)
		if !regexp.MustCompile(want[i]).MatchString(out) {
			t.Errorf("block %d of js/README.md prints %q, want %s", i+1, out, want[i])
		}
	}
}

// ordinary is a program in TypeScript as people write it with the driver and with mongoose.
const ordinary = `
import { ObjectId as Unmarked, type Range } from '@oidkit/objectid'
import { markForBSON } from '@oidkit/objectid/bson'
import * as bson from 'bson'
import * as mongodb from 'mongodb'
import mongoose from 'mongoose'

export const ObjectId = markForBSON(mongodb.ObjectId)
export type ObjectId = InstanceType<typeof ObjectId>
interface Order { _id: mongodb.ObjectId; customer: mongodb.ObjectId; n: number }
const db = new mongodb.MongoClient('', { pkFactory: { createPk: ObjectId.generate } }).db()
const orders = db.collection<Order>('orders')
const others = db.collection('others')
const id: ObjectId = ObjectId.generate()
const day = ObjectId.between(new Date(), 5)

await orders.insertOne({ _id: id, customer: id, n: 1 })
await orders.insertMany([{ _id: id, customer: id, n: 1 }])
await orders.bulkWrite([{ insertOne: { document: { _id: id, customer: id, n: 1 } } }])
await orders.findOne({ _id: id })
await orders.find({ _id: day }).toArray()
await orders.find({ _id: { $gte: ObjectId.at(new Date()) } }).toArray()
await orders.updateOne({ _id: id }, { $set: { customer: id } })
await orders.deleteMany({ _id: { $in: [id] } })
await others.insertOne({ _id: id })
await others.findOne({ _id: id })
await others.find({ _id: day }).toArray()
await others.updateOne({ _id: id }, { $set: { customer: id } })
await others.deleteMany({ _id: { $in: [id] } })
const read = await orders.findOne({ _id: id })
const same: boolean = id.equals(read?._id) && read!._id.equals(id)
const order: -1 | 0 | 1 = ObjectId.compare(id, read!._id)
const again: ObjectId = new ObjectId(read!._id.toHexString())
const [theirs, plain, bytes]: [bson.ObjectId, Unmarked, Uint8Array] = [id, id, id.id]
const three: ObjectId[] = [1, 2, 3].map(ObjectId.generate)

const Model = mongoose.model('Order', new mongoose.Schema({
  _id: { type: mongoose.Schema.Types.ObjectId, default: ObjectId.generate },
  customer: { type: mongoose.Types.ObjectId, required: true },
}))
await Model.create({ customer: id })
await Model.findById(id)
await Model.find({ _id: day })
await Model.updateOne({ _id: id }, { $set: { customer: id } })
const document = new Model({ customer: id })
const mongooses: mongoose.Types.ObjectId = markForBSON(mongoose.Types.ObjectId).generate()

const unmarked: Unmarked = Unmarked.generate()
const range: Range = Unmarked.between(new Date(), 5)
// @ts-expect-error
await orders.insertOne({ _id: unmarked, customer: id, n: 1 })
// @ts-expect-error
await orders.findOne({ _id: range })
// @ts-expect-error
markForBSON(7)
// @ts-expect-error
markForBSON(mongodb)
// @ts-expect-error
new ObjectId()
// @ts-expect-error
id.hex = ''
// @ts-expect-error
ObjectId.at('2026-11-01')
// @ts-expect-error
ObjectId.between(null, new Date())
`

// The types fit where the drivers' are wanted, once the ids are marked and not before. The
// programs of the README compile as they are.
func TestJavaScriptTypes(t *testing.T) {
	programs := append(readmeBlocks(t), ordinary)
	compilers := []string{
		filepath.Join(testenv.NodeModules(t, "typescript", "5.9.2"), "typescript", "bin", "tsc"),
		filepath.Join(testenv.NodeModules(t, "typescript", "7.0.2"), "typescript", "bin", "tsc"),
	}
	types := testenv.NodeModules(t, "@types/node", "24.19.4")
	for name, packages := range drivers(t) {
		dir := t.TempDir()
		modules := filepath.Join(dir, "node_modules")
		testenv.NoError(t, os.CopyFS(modules, os.DirFS(packages["mongoose"])))
		testenv.NoError(t, os.MkdirAll(filepath.Join(modules, "@oidkit"), 0o755))
		testenv.NoError(t, os.Symlink(testenv.Must(filepath.Abs(library))(t), filepath.Join(modules, "@oidkit", "objectid")))
		for _, p := range []string{"@types/node", "undici-types"} {
			testenv.NoError(t, os.CopyFS(filepath.Join(modules, p), os.DirFS(filepath.Join(types, p))))
		}
		var files []string
		for i, program := range programs {
			files = append(files, filepath.Join(dir, string(rune('a'+i))+".mts"))
			testenv.NoError(t, os.WriteFile(files[i], []byte(program), 0o644))
		}
		for _, compiler := range compilers {
			t.Run(name, func(t *testing.T) {
				tsc := exec.CommandContext(t.Context(), "node", append([]string{
					compiler, "--noEmit", "--strict",
					"--module", "nodenext", "--target", "es2022", "--types", "node", "--skipLibCheck",
				}, files...)...)
				tsc.Dir = dir
				testenv.Run(t, tsc)
			})
		}
	}
}
