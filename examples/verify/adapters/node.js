// Lets examples/verify judge the ids of bson, bson-objectid, mongoose, uniku or @oidkit/objectid:
// node node.js LIBRARY [hook]. With hook, it calls what docs/explanation/snapshots.md says in a copy
// that is resumed.
const { openSync, readSync, writeSync } = require('fs')

// adapter returns how a library creates an id and reads one: as digits and a Date.
async function adapter(name) {
  if (name === 'uniku') {
    const { objectid } = await import(require.resolve('uniku/objectid'))
    return [objectid, (line) => [objectid.fromBytes(objectid.toBytes(line)), new Date(objectid.timestamp(line))]]
  }
  const library = await import(require.resolve(name))
  const ObjectId = library.default?.Types?.ObjectId ?? library.ObjectId ?? library.default
  const create = name === '@oidkit/objectid' ? () => ObjectId.generate() : () => new ObjectId()
  return [
    () => create().toHexString(),
    (line) => {
      const id = new ObjectId(line)
      return [id.toHexString(), id.getTimestamp()]
    },
    () => hooks[name](ObjectId),
  ]
}

// fromKernel returns random bytes that no other copy has: those of crypto are the same in each.
function fromKernel(bytes) {
  readSync(openSync('/dev/urandom'), bytes)
  return bytes
}

// hooks give the library another process value.
const hooks = {
  bson: (ObjectId) => (ObjectId.PROCESS_UNIQUE = fromKernel(Buffer.alloc(5))),
  mongoose: (ObjectId) => (ObjectId.PROCESS_UNIQUE = fromKernel(Buffer.alloc(5))),
  '@oidkit/objectid': (ObjectId) => ObjectId.reseed(),
}

async function main() {
  const [create, read, hook] = await adapter(process.argv[2])
  if (process.env.OID_VERIFY === 'decode') {
    const answer = (line) => {
      try {
        const [digits, time] = read(line)
        return `${digits} ${Math.floor(time.getTime() / 1000)}`
      } catch {
        return 'refused'
      }
    }
    const lines = require('fs').readFileSync(0, 'utf8').split('\n')
    process.stdout.write(lines.slice(0, -1).map(answer).join('\n') + '\n')
    return
  }
  const write = () => {
    for (let left = Number(process.env.OID_VERIFY_IDS); left > 0; left -= 100) {
      let text = ''
      for (let i = 0; i < Math.min(left, 100); i++) text += create() + '\n'
      writeSync(1, text)
    }
  }
  write()
  if (process.env.OID_VERIFY === 'resume') {
    await new Promise((resolve) => process.stdin.once('data', resolve))
    if (process.argv[3] === 'hook') hook()
    write()
    process.stdin.unref()
  }
}

main()
