// Lets examples/verify judge the ids of bson, bson-objectid, mongoose, uniku or @oidkit/objectid:
// node node.js LIBRARY [hook]. With hook, it calls what docs/how-to/after-a-snapshot.md says in a copy
// that is resumed.
const fs = require('fs')
const { writeSync } = fs

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

// hooks give the library another process value. The random bytes of crypto are the same in each copy.
const hooks = {
  bson: (ObjectId) => fs.readSync(fs.openSync('/dev/urandom'), (ObjectId.PROCESS_UNIQUE = Buffer.alloc(5))),
  mongoose: (ObjectId) => hooks.bson(ObjectId),
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
