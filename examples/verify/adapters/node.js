// Lets oid verify judge the ids of bson, bson-objectid or mongoose: node node.js LIBRARY.
const { writeSync } = require('fs')
const library = require(process.argv[2])
const ObjectId = library.Types?.ObjectId ?? library.ObjectId ?? library

function read(line) {
  try {
    const id = new ObjectId(line)
    return `${id.toHexString()} ${Math.floor(id.getTimestamp().getTime() / 1000)}`
  } catch {
    return 'refused'
  }
}

if (process.env.OID_VERIFY === 'decode') {
  const lines = require('fs').readFileSync(0, 'utf8').split('\n')
  process.stdout.write(lines.slice(0, -1).map(read).join('\n') + '\n')
} else {
  for (let left = Number(process.env.OID_VERIFY_IDS); left > 0; left -= 100) {
    let text = ''
    for (let i = 0; i < Math.min(left, 100); i++) text += new ObjectId().toHexString() + '\n'
    writeSync(1, text)
  }
}
