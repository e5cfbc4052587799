// Lets examples/verify judge the ids of bson in programs that start from one snapshot of a
// program that has created an id. A snapshot cannot load modules, so that the library is
// one file:
//
//	node --snapshot-blob bson.blob --build-snapshot node-snapshot.js bson.cjs
//	node --snapshot-blob bson.blob
const { readFileSync, writeSync } = require('fs')
const { startupSnapshot } = require('v8')
const library = {}
new Function('exports', 'require', readFileSync(process.argv.at(-1), 'utf8'))(library, require)
new library.ObjectId()

startupSnapshot.setDeserializeMainFunction(() => {
  for (let left = Number(process.env.OID_VERIFY_IDS); left > 0; left -= 100) {
    let text = ''
    for (let i = 0; i < Math.min(left, 100); i++) text += new library.ObjectId().toHexString() + '\n'
    writeSync(1, text)
  }
})
