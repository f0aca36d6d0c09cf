// Tests the built binary with real object stores: `bun scripts/buckets.ts [versitygw] [minio] [radosgw]`, by
// default with all that are installed. Run by hand; the tests use s3rver.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KINDS } from './buckets/servers.ts'
import { tryBucket } from './buckets/trial.ts'

const wanted = process.argv.slice(2)
const kinds = KINDS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
let failed = 0
for (const { name, install, find, start } of kinds) {
  const program = find()
  if (program === null) {
    console.log(`${name} is not installed: ${install}`)
    continue
  }
  const folder = mkdtempSync(join(tmpdir(), `oncebox-${name}-`))
  mkdirSync(join(folder, 'server'))
  const server = await start(program, join(folder, 'server'))
  try {
    for await (const { what, found, isRight } of tryBucket(server, join(folder, 'oncebox'))) {
      console.log(`${name}: ${isRight ? 'right' : 'WRONG'}: ${what}: ${found}`)
      if (!isRight) failed += 1
    }
  } finally {
    await server.end()
    rmSync(folder, { recursive: true, force: true })
  }
}
process.exit(failed === 0 ? 0 : 1)
